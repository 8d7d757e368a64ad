import type { Socket } from 'node:net';

/**
 * Resets a connection. Node refuses to reset one that is saying goodbye (libuv's EINVAL): it then stays open for ever
 * without a `close`, and its process doesn't end but spins. Such a connection is closed instead.
 */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}
