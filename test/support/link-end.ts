import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { FrameReader } from '../../src/lib/link/frame-reader.js';
import { KIND, writeHeader } from '../../src/lib/link/frames.js';
import { LINK_GRANTED, LINK_PATH, LINK_PROTOCOL, linkRequest } from '../../src/lib/link/handshake.js';
import { headBytes, writeHead } from '../../src/lib/link/head-frame.js';
import { until } from './until.js';

export type KindName = keyof typeof KIND;

export interface SeenFrame {
  kind: KindName | number;
  id: number;
  payload: Buffer;
}

const nameOf = (kind: number): KindName | number =>
  (Object.keys(KIND) as KindName[]).find((name) => KIND[name] === kind) ?? kind;

/** Bytes of a frame. */
export function frame(kind: KindName | number, id: number, payload: Buffer | string = ''): Buffer {
  const body = Buffer.from(payload as string, 'latin1');
  const header = Buffer.alloc(8);
  writeHeader(header, 0, typeof kind === 'number' ? kind : KIND[kind], id, body.length);
  return Buffer.concat([header, body]);
}

/** An `open` frame for a body of that length, with some of it. */
export function opening(
  id: number,
  authorization: string,
  bodyBytes: number,
  body: Buffer | string = '',
): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(bodyBytes, 1);
  head.writeUInt16BE(authorization.length, 5);
  return frame('open', id, Buffer.concat([head, Buffer.from(authorization), Buffer.from(body as string)]));
}

/** A `head` frame with status 200. */
export function headFrame(id: number, stream = false): Buffer {
  const head = { status: 200, stream, retryAfterSeconds: undefined, servedBy: '' };
  const payload = Buffer.alloc(headBytes(head));
  writeHead(payload, 0, head);
  return frame('head', id, payload);
}

/** One end of a link in a test's hands: what came over it, and a way to send any bytes. */
export class LinkEnd {
  readonly seen: SeenFrame[] = [];
  closed = false;
  readonly #reader = new FrameReader((kind, id, payload) =>
    this.seen.push({ kind: nameOf(kind), id, payload: Buffer.from(payload) }),
  );

  constructor(readonly socket: Socket) {
    socket.on('error', () => undefined);
    // Servers of HTTP leave their half open.
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      this.closed = true;
    });
    socket.on('data', (bytes: Buffer) => this.#reader.read(bytes));
  }

  of(kind: KindName): SeenFrame[] {
    return this.seen.filter((one) => one.kind === kind);
  }

  send(...frames: Buffer[]): void {
    this.socket.write(Buffer.concat(frames));
  }

  /** Waits for so many frames of a kind. */
  async got(kind: KindName, count = 1): Promise<SeenFrame[]> {
    await until(() => this.of(kind).length >= count, { what: `${count} frames ${kind}` });
    return this.of(kind);
  }
}

/** A model proxy in a test's hands: it grants links while `grants`, with `refusal` otherwise, and answers HTTP with `over HTTP`. */
export async function startLinkProxy() {
  const ends: LinkEnd[] = [];
  const proxy = { url: '', grants: true, refusal: '404 Not Found', asked: 0, overHttp: 0, ends, close };
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    if (request.url === LINK_PATH) {
      proxy.asked++;
      response.writeHead(404).end();
      return;
    }
    proxy.overHttp++;
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' }).end('over HTTP');
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (_request, socket: Socket) => {
    proxy.asked++;
    if (!proxy.grants) {
      socket.end(`HTTP/1.1 ${proxy.refusal}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
      return;
    }
    socket.write(LINK_GRANTED);
    ends.push(new LinkEnd(socket));
  });
  async function close(): Promise<void> {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}

/** An edge's end at a real proxy; undefined with the answer's first line where it is refused. */
export async function openLink(
  url: string,
  masterKey: string,
): Promise<{ end: LinkEnd | undefined; status: string }> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(linkRequest(LINK_PATH, host, masterKey));
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  const status = bytes.toString('latin1').split('\r\n', 1)[0]!;
  if (status.includes('101')) return { end: new LinkEnd(socket), status };
  socket.destroy();
  return { end: undefined, status };
}

export { LINK_PROTOCOL };
