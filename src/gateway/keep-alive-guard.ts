import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Keeps answers from ending a connection on which others are still to come: Node closes it behind the first answer that says
 * so, and what calls behind that one have been charged for would never arrive.
 */
export class KeepAliveGuard {
  /** The answer to the latest request of each connection. */
  readonly #last = new Map<Socket, ServerResponse | undefined>();
  #draining = false;

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#last.set(socket, undefined);
      socket.once('close', () => this.#last.delete(socket));
    });
  }

  /** Takes note of a request. False: an answer before it ends the connection, so that it must not be begun. */
  take(request: IncomingMessage, response: ServerResponse): boolean {
    const { socket } = request;
    const before = this.#last.get(socket);
    if (before) {
      if (endsConnection(before)) return false;
      if (!before.headersSent && before.hasHeader('connection')) before.removeHeader('connection');
    }
    this.#last.set(socket, response);
    if (this.#draining) response.setHeader('connection', 'close');
    return true;
  }

  /** Lets each connection end with the answer to its latest request. */
  drain(): void {
    this.#draining = true;
    for (const response of this.#last.values()) {
      if (response && !response.headersSent) response.setHeader('connection', 'close');
    }
  }
}

/** Whether Node closes the connection behind an answer. Its head says so, but only Node knows all that makes it say so. */
const endsConnection = (response: ServerResponse): boolean =>
  (response as { _last?: boolean })._last === true;
