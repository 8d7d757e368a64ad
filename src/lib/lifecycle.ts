import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from './logger.js';

/** A socket that a finished call leaves behind keeps `close()` waiting for seconds unless it is closed as well. */
const IDLE_SWEEP_MS = 50;

export interface ShutdownOptions {
  /** Milliseconds after which the process ends all the same, with code 1. */
  timeoutMs: number;
}

/**
 * Runs `stop` once on SIGTERM, SIGINT or the end of the parent (IPC `disconnect`), then ends the process with code
 * 0, or 1 when `stop` fails or takes longer than `timeoutMs`. Further signals are ignored while it drains: Ctrl-C
 * reaches the whole process group and the launcher sends one more.
 */
export function onShutdown(log: Logger, stop: () => Promise<void>, { timeoutMs }: ShutdownOptions): void {
  let stopping = false;
  const begin = (reason: string): void => {
    if (stopping) return;
    stopping = true;
    log.info({ reason }, 'draining');
    const timer = setTimeout(() => {
      log.error({ timeoutMs }, 'draining took too long, ending now');
      process.exit(1);
    }, timeoutMs);
    stop().then(
      () => {
        clearTimeout(timer);
        process.exit(0);
      },
      (error: unknown) => {
        log.error({ error }, 'draining failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', begin);
  process.on('SIGINT', begin);
  process.on('disconnect', () => begin('disconnect'));
  // The parent may have ended while this process was starting.
  if (process.send && !process.connected) begin('disconnect');
}

/** Tells the parent, if there is one, that this process listens at `url`. */
export function announceReady(url: string): void {
  // Without a callback a parent that has just ended would be an uncaught error.
  if (process.connected) process.send?.({ type: 'ready', url }, undefined, undefined, () => undefined);
}

/**
 * Makes the way to close `server`, which must not listen yet. The function runs `close` (which waits for the server to
 * end) while connections that wait for nothing are closed every 50 ms: those that a finished call leaves behind, and
 * those that never sent a byte. Browsers and SDKs open such ahead of need; Node takes them for busy, and once it closes
 * it applies no timeout of its own to them.
 */
export function idleCloser(server: Server): (close: () => PromiseLike<unknown>) => Promise<void> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  return async (close) => {
    const sweep = setInterval(() => {
      server.closeIdleConnections();
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    }, IDLE_SWEEP_MS);
    try {
      await close();
    } finally {
      clearInterval(sweep);
    }
  };
}
