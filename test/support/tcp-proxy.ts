import { connect, createServer, type Socket } from 'node:net';
import { Transform, type TransformCallback } from 'node:stream';
import { resetSocket } from './reset-socket.js';

/** A TCP link to PostgreSQL, an upstream or Redis, with faults that a test controls. */
export interface TcpProxy {
  port: number;
  /** The given URL with this proxy's address in it. */
  urlOf(url: string): string;
  /** Resets every connection and, until `restore`, each new one. */
  cut(): void;
  /** Resets every connection once; new ones pass. */
  reset(): void;
  /** Passes nothing on and closes nothing, like a frozen peer. Bytes arrive after `restore`. */
  freeze(): void;
  /** Delays every piece in both directions. */
  delay(milliseconds: number): void;
  /** Passes on pieces of 1 to `maxBytes` bytes; `random` gives numbers in [0, 1). */
  split(maxBytes: number, random: () => number): void;
  /** Half-closes the connections of clients, and still accepts what they send. */
  halfClose(): void;
  restore(): void;
  /** Number of open connections. */
  connections(): number;
  close(): Promise<void>;
}

interface Weather {
  state: 'open' | 'cut' | 'frozen';
  delayMs: number;
  maxBytes: number;
  random: () => number;
  /** Resolves when nothing is frozen any more. */
  thawed: Promise<void>;
}

/**
 * Starts a proxy on loopback in front of a port. `observe` sees what clients send, by connection, before any
 * fault of the link.
 */
export async function createTcpProxy(
  port: number,
  observe?: (bytes: Buffer, connection: object) => void,
): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  const weather: Weather = {
    state: 'open',
    delayMs: 0,
    maxBytes: 0,
    random: Math.random,
    thawed: Promise.resolve(),
  };
  let thaw = (): void => undefined;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      clients.delete(socket);
    });
    return socket;
  };
  // Half-open on both sides: a side that has sent everything may still receive.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    clients.add(keep(client));
    if (weather.state === 'cut') {
      resetSocket(client);
      return;
    }
    const target = keep(connect({ port, host: '127.0.0.1', allowHalfOpen: true }));
    client.setNoDelay(true);
    if (observe) client.on('data', (bytes: Buffer) => observe(bytes, client));
    target.setNoDelay(true);
    for (const [from, to] of [
      [client, target],
      [target, client],
    ] as const) {
      from.pipe(new Passage(weather)).pipe(to);
      from.on('error', () => resetSocket(to));
      from.on('close', () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address() as { port: number };
  const resetAll = (): void => {
    for (const socket of sockets) resetSocket(socket);
  };
  return {
    port: address.port,
    urlOf(url) {
      const changed = new URL(url);
      changed.hostname = '127.0.0.1';
      changed.port = String(address.port);
      return changed.href;
    },
    cut() {
      weather.state = 'cut';
      resetAll();
    },
    reset: resetAll,
    freeze() {
      if (weather.state === 'frozen') return;
      weather.state = 'frozen';
      weather.thawed = new Promise((resolve) => {
        thaw = resolve;
      });
    },
    delay(milliseconds) {
      weather.delayMs = milliseconds;
    },
    split(maxBytes, random) {
      weather.maxBytes = maxBytes;
      weather.random = random;
    },
    halfClose() {
      for (const socket of clients) socket.end();
    },
    restore() {
      weather.state = 'open';
      weather.delayMs = 0;
      weather.maxBytes = 0;
      thaw();
    },
    connections: () => clients.size,
    async close() {
      thaw();
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** One direction of one connection, with the link's faults. */
class Passage extends Transform {
  constructor(private readonly weather: Weather) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const { weather } = this;
    if (weather.state === 'open' && weather.delayMs === 0 && weather.maxBytes === 0) {
      done(null, chunk);
      return;
    }
    this.#pass(chunk).then(() => done(), done);
  }

  async #pass(chunk: Buffer): Promise<void> {
    const { weather } = this;
    for (let rest = chunk; rest.length > 0; ) {
      await weather.thawed;
      if (weather.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, weather.delayMs));
      const size = weather.maxBytes > 0 ? 1 + Math.floor(weather.random() * weather.maxBytes) : rest.length;
      this.push(rest.subarray(0, size));
      rest = rest.subarray(size);
      // A separate turn for each piece, so that pieces aren't joined again on the way out.
      if (rest.length > 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
