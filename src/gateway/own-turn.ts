import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { EdgeBounds } from './edge-bounds.js';

/**
 * Forwards pipelined requests one at a time. Waiting ones are counted separately, so that a client that pipelines
 * without reading doesn't block others at its address.
 */
export class OwnTurns {
  /** Requests that wait, by client and by connection. */
  readonly #clients = new Map<string, number>();
  readonly #sockets = new WeakMap<Socket, { count: number }>();

  constructor(private readonly bounds: Pick<EdgeBounds, 'pipelinedPerClient'>) {}

  /** Calls `begin` once all earlier requests on this connection have been answered. False: too many wait already. */
  wait(client: string, { socket }: IncomingMessage, response: ServerResponse, begin: () => void): boolean {
    // Node assigns the socket to one response at a time.
    if (response.socket) {
      begin();
      return true;
    }
    const all = this.#clients.get(client) ?? 0;
    if (all >= this.bounds.pipelinedPerClient) return false;
    this.#clients.set(client, all + 1);
    const own = this.#ofSocket(client, socket);
    own.count++;
    response.once('socket', () => {
      own.count--;
      this.#leave(client, 1);
      begin();
    });
    return true;
  }

  #ofSocket(client: string, socket: Socket): { count: number } {
    const known = this.#sockets.get(socket);
    if (known) return known;
    const own = { count: 0 };
    this.#sockets.set(socket, own);
    socket.once('close', () => this.#leave(client, own.count));
    return own;
  }

  #leave(client: string, count: number): void {
    const left = (this.#clients.get(client) ?? 0) - count;
    if (left > 0) this.#clients.set(client, left);
    else this.#clients.delete(client);
  }
}
