import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Answers that wait for the one ahead of them, by connection. */
const queued = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Makes an answer close with its connection though it has none yet. A client may send its next request before the
 * answer to the last is out; Node gives the next answer the connection only then, and until then never tells it that
 * the client has left.
 */
export function closeWithConnection({ socket }: IncomingMessage, response: ServerResponse): void {
  let answers = queued.get(socket);
  if (!answers) {
    answers = new Set();
    queued.set(socket, answers);
    socket.once('close', () => closeAll(socket));
  }
  answers.add(response);
  response.once('close', () => queued.get(socket)?.delete(response));
}

function closeAll(socket: Socket): void {
  for (const response of queued.get(socket) ?? []) {
    // One that has got the connection meanwhile is told by Node.
    if (response.socket !== null || response.destroyed) continue;
    response.destroyed = true;
    response.emit('close');
  }
}
