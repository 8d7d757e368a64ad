import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Keeps a response from closing a connection on which later responses are pending. Node closes a connection after the first response
 * with `Connection: close`, and the answers of charged calls behind it would be lost.
 */
export class KeepAliveGuard {
  /** The response to the latest request of each connection. */
  readonly #last = new Map<Socket, ServerResponse | undefined>();
  #draining = false;

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#last.set(socket, undefined);
      socket.once('close', () => this.#last.delete(socket));
    });
  }

  /** Registers a request. Returns false if an earlier response closes the connection; the request must not be handled then. */
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

  /** Closes each connection after the response to its latest request. */
  drain(): void {
    this.#draining = true;
    for (const response of this.#last.values()) {
      if (response && !response.headersSent) response.setHeader('connection', 'close');
    }
  }
}

/** Whether Node closes the connection after a response. Read from Node, because the rules are in its private code. */
const endsConnection = (response: ServerResponse): boolean =>
  (response as { _last?: boolean })._last === true;
