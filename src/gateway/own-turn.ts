import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Callbacks of the requests that wait on a connection, for when it closes. */
const waiting = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls `begin` once all earlier requests on this connection have been answered, so that pipelined requests are passed on
 * one at a time. Calls `over` when the response is closed or the connection closes first.
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
  // Node assigns the socket to one response at a time.
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
