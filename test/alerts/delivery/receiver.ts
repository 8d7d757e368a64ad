import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it came. */
export interface Received {
  path: string;
  headers: Record<string, string>;
  /** Names as they were written. */
  rawHeaders: string[];
  body: Buffer;
  /** `performance.now()`. */
  at: number;
}

type Answer = (response: ServerResponse, request: IncomingMessage, count: number) => void;

const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(code, headers).end('an answer');

/** What a receiver may do, by the first part of the path. */
const MODES: Record<string, Answer> = {
  ok: status(204),
  made: status(201),
  bad: status(400),
  gone: status(410),
  busy: status(503),
  moved: status(302, { location: '/ok' }),
  kept: status(308, { location: '/ok' }),
  // Twice 500, then 200.
  recovers: (response, _request, count) => void response.writeHead(count > 2 ? 200 : 500).end(),
  // Long enough to be caught in flight.
  slow: (response) => void setTimeout(() => response.writeHead(204).end(), SLOW_MS),
  reset: (response) => void response.socket!.resetAndDestroy(),
  hang: () => undefined,
  // A head that never ends.
  'trickle-head': (response) => {
    response.socket!.write('HTTP/1.1 200 OK\r\n');
    drip(response, () => response.socket!.write('x-more: 1\r\n'));
  },
  // A body that never ends.
  'trickle-body': (response) => {
    response.writeHead(200);
    drip(response, () => response.write('.'));
  },
  'large-head': (response) => {
    response.socket!.write(`HTTP/1.1 200 OK\r\nx-large: ${'x'.repeat(200_000)}\r\n\r\n`);
  },
  large: (response) => {
    response.writeHead(200);
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const more = (): void => {
      while (!response.destroyed && written(response) < LARGE_BYTES && response.write(chunk)) {
        // As fast as it is taken.
      }
    };
    response.on('drain', more);
    more();
  },
  cut: (response) => {
    response.writeHead(200, { 'content-length': '1000' }).write('x');
    setImmediate(() => response.socket!.resetAndDestroy());
  },
  garbage: (response) => void response.socket!.end('SSH-2.0-OpenSSH_9.6\r\n'),
};

export const LARGE_BYTES = 100_000_000;
const DRIP_MS = 20;
const SLOW_MS = 300;

function drip(response: ServerResponse, write: () => void): void {
  const timer = setInterval(write, DRIP_MS);
  response.socket!.on('error', () => undefined);
  response.socket!.on('close', () => clearInterval(timer));
}

const written = (response: ServerResponse): number => response.socket?.bytesWritten ?? LARGE_BYTES;

/** A real receiver of webhooks that does what the path says, and remembers what came. */
export interface Receiver {
  url: string;
  requests: Received[];
  /** Requests of one path, oldest first. */
  to(path: string): Received[];
  /** Requests that have no answer yet, and the most that there were of one path's first part. */
  open(mode: string): { now: number; most: number };
  /** Bytes written on connections of one path. */
  bytesTo(path: string): number;
  connections(): number;
  close(): Promise<void>;
}

export interface ReceiverOptions {
  host?: string;
  /** Called when a request has come, before it is answered; false leaves it without an answer. */
  onRequest?(received: Received, response: ServerResponse): boolean | undefined;
}

export async function startReceiver({
  host = '127.0.0.1',
  onRequest,
}: ReceiverOptions = {}): Promise<Receiver> {
  const requests: Received[] = [];
  const bytes = new Map<string, number>();
  const open = new Map<string, { now: number; most: number }>();
  let connections = 0;
  const server = createServer((request, response) => {
    const path = request.url!;
    const mode = path.split('/')[1]!;
    const inFlight = open.get(mode) ?? { now: 0, most: 0 };
    open.set(mode, inFlight);
    inFlight.now++;
    inFlight.most = Math.max(inFlight.most, inFlight.now);
    const { socket } = request;
    response.on('close', () => {
      inFlight.now--;
      bytes.set(path, (bytes.get(path) ?? 0) + socket.bytesWritten);
    });
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const received: Received = {
        path,
        headers: request.headers as Record<string, string>,
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(chunks),
        at: performance.now(),
      };
      requests.push(received);
      if (onRequest?.(received, response) === false) return;
      MODES[mode]!(response, request, requests.filter((other) => other.path === path).length);
    });
  });
  server.on('connection', () => {
    connections++;
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    requests,
    to: (path) => requests.filter((request) => request.path === path),
    open: (mode) => open.get(mode) ?? { now: 0, most: 0 },
    bytesTo: (path) => bytes.get(path) ?? 0,
    connections: () => connections,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
