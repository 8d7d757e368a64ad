import type { Socket } from 'node:net';

/**
 * Resets a connection. Node refuses to reset one that is shutting down (libuv's EINVAL), which then stays open forever
 * without a `close` event while its process spins. Such a connection is closed instead.
 */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}
