import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { resetSocket } from '../../support/reset-socket.js';

/** A load balancer for several edges, which passes each connection to one of them. */
export interface Front {
  readonly url: string;
  /**
   * Whether a connection that an edge closes before its first byte goes to another edge, as a refused one always
   * does. Correct for orderly stops, in which edges haven't read what they close unanswered. A killed edge may have.
   */
  retriesUnanswered: boolean;
  /** Connections that went to another edge than the first one tried. */
  retried(): number;
  close(): Promise<void>;
}

/** Larger requests are not kept for another attempt. */
const KEPT_BYTES = 1024 * 1024;
/** All edges may refuse for a moment, between the end of one and the start of the next. */
const PATIENCE_MS = 5_000;
const PAUSE_MS = 20;

/** Starts a front on a free port of loopback, with edges on these ports in turn. */
export async function startFront(ports: readonly number[]): Promise<Front> {
  const sockets = new Set<Socket>();
  let turn = 0;
  let retried = 0;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((client) => {
    keep(client).setNoDelay(true);
    pass(client, turn++);
  });

  /** Brings a connection to an edge, the first of its turn or, while nothing was answered, the next. */
  const pass = (client: Socket, first: number): void => {
    const sent: Buffer[] = [];
    const giveUpAt = performance.now() + PATIENCE_MS;
    let edge: Socket | undefined;
    let answered = false;
    client.on('data', (bytes: Buffer) => {
      if (!answered && client.bytesRead <= KEPT_BYTES) sent.push(bytes);
      if (edge?.write(bytes) === false) {
        client.pause();
        edge.once('drain', () => client.resume());
      }
    });
    client.on('close', () => edge?.destroy());
    const attempt = (number: number): void => {
      if (client.destroyed) return;
      const current = keep(connect(ports[number % ports.length]!, '127.0.0.1'));
      current.setNoDelay(true);
      edge = current;
      let connected = false;
      current.on('connect', () => {
        connected = true;
      });
      for (const bytes of sent) current.write(bytes);
      current.on('data', (bytes: Buffer) => {
        answered = true;
        if (!client.write(bytes)) {
          current.pause();
          client.once('drain', () => current.resume());
        }
      });
      current.on('end', () => {
        if (answered) client.end();
      });
      current.on('close', (failed) => {
        const again = !answered && (!connected || front.retriesUnanswered) && client.bytesRead <= KEPT_BYTES;
        if (again && performance.now() < giveUpAt) {
          if (number === first) retried++;
          setTimeout(() => attempt(number + 1), number - first < ports.length ? 0 : PAUSE_MS);
        } else if (failed || !answered) resetSocket(client);
        else client.end();
      });
    };
    attempt(first);
  };

  server.listen(0, '127.0.0.1', 4_096);
  await once(server, 'listening');
  const front: Front = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    retriesUnanswered: false,
    retried: () => retried,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return front;
}
