import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { resetSocket } from './reset-socket.js';

export interface Link {
  /** The target's address through this link. */
  url: string;
  /** Resets all connections; new ones are refused. */
  cut(): Promise<void>;
  /** Passes nothing any more, but keeps and accepts connections. */
  freeze(): void;
  /** Delays the responses on the current connections. Returns a function that lets them through. */
  holdAnswers(): () => void;
}

/** A TCP link to the server of `target` that a test can cut or freeze. */
export async function startLink(target: string): Promise<Link> {
  const to = new URL(target);
  const sockets = new Set<Socket>();
  const pairs: { near: Socket; far: Socket }[] = [];
  let frozen = false;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((near) => {
    keep(near);
    if (frozen) return;
    const far = keep(connect(Number(to.port), to.hostname));
    pairs.push({ near, far });
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    async cut() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) resetSocket(socket);
      await closed;
    },
    freeze() {
      frozen = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    holdAnswers() {
      const held = [...pairs];
      for (const { near, far } of held) far.unpipe(near).pause();
      return () => {
        for (const { near, far } of held) far.pipe(near);
      };
    },
  };
}
