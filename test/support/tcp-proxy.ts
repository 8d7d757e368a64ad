import { connect, createServer, type Socket } from 'node:net';

/** A TCP link whose faults a test decides: between us and PostgreSQL, an upstream, Redis. */
export interface TcpProxy {
  port: number;
  /** The given URL with this proxy's address in it. */
  urlOf(url: string): string;
  /** Resets every connection and, until `restore`, each new one. */
  cut(): void;
  /** Passes nothing on and closes nothing, as a frozen peer. Bytes arrive after `restore`. */
  freeze(): void;
  restore(): void;
  close(): Promise<void>;
}

/** Starts a proxy on loopback in front of `host:port`. */
export async function createTcpProxy(port: number, host = '127.0.0.1'): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let state: 'open' | 'cut' | 'frozen' = 'open';
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((client) => {
    keep(client);
    if (state === 'cut') {
      client.resetAndDestroy();
      return;
    }
    const target = keep(connect({ port, host }));
    for (const [from, to] of [
      [client, target],
      [target, client],
    ] as const) {
      from.pipe(to);
      from.on('close', () => to.destroy());
      if (state === 'frozen') from.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address() as { port: number };
  return {
    port: address.port,
    urlOf(url) {
      const changed = new URL(url);
      changed.hostname = '127.0.0.1';
      changed.port = String(address.port);
      return changed.href;
    },
    cut() {
      state = 'cut';
      for (const socket of sockets) socket.resetAndDestroy();
    },
    freeze() {
      state = 'frozen';
      for (const socket of sockets) socket.pause();
    },
    restore() {
      state = 'open';
      for (const socket of sockets) socket.resume();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
