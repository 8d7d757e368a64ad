import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A platform that is nothing but a wire: what the edge sends it, byte for byte, one text per connection. */
export interface WirePlatform {
  url: string;
  /** Everything that arrived on connections with this mark in them, one after the other. */
  received(mark: string): string;
  close(): Promise<void>;
}

const ANSWER =
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}';

/** Answers once per connection, when a whole request by its own framing was there; what follows is kept too. */
export async function startWirePlatform(): Promise<WirePlatform> {
  const texts: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const index = texts.push('') - 1;
    let answered = false;
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      texts[index] += chunk.toString('latin1');
      if (answered || !isWhole(texts[index]!)) return;
      answered = true;
      socket.write(ANSWER);
      // A second request on this connection, if there is one, is on its way already.
      setTimeout(() => socket.end(), 20);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: (mark) => texts.filter((text) => text.includes(mark)).join(''),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const head = text.slice(0, end);
  const length = /^content-length: (\d+)$/im.exec(head);
  const body = text.slice(end + 4);
  if (/^transfer-encoding:/im.test(head)) return body.endsWith('0\r\n\r\n');
  return body.length >= Number(length?.[1] ?? 0);
}
