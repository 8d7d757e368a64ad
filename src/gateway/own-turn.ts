import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What to do for requests that wait on a connection when it closes. */
const waiting = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls `begin` once everything that was asked before on this connection is answered: who sends many requests at once has
 * one of them passed on. `over` is called when the answer has been sent, or the connection closes before.
 */
export function inOwnTurn(
  { socket }: IncomingMessage,
  response: ServerResponse,
  begin: () => void,
  over: () => void,
): void {
  const go = (): void => {
    response.once('close', over);
    begin();
  };
  // Node gives the connection to one answer after the other.
  if (response.socket) {
    go();
    return;
  }
  let line = waiting.get(socket);
  if (!line) {
    const made = new Set<() => void>();
    line = made;
    waiting.set(socket, made);
    socket.once('close', () => {
      for (const gone of made) gone();
    });
  }
  const own = line;
  own.add(over);
  response.once('socket', () => {
    own.delete(over);
    go();
  });
}
