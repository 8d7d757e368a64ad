import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { FairQueue, type Leave } from '../../lib/fair/fair-queue.js';
import type { ResourceLimits } from '../resource-limits.js';

/**
 * Forwards pipelined requests of a connection one at a time, in order. Waiting requests are counted separately, so that a client
 * that pipelines without reading doesn't block others at its address.
 */
export class PipelineQueue {
  readonly #waiting: FairQueue;
  readonly #sockets = new WeakMap<Socket, Set<Leave>>();

  constructor({ pipelinedPerClient }: Pick<ResourceLimits, 'pipelinedPerClient'>) {
    this.#waiting = new FairQueue({ perOwner: pipelinedPerClient });
  }

  /** Calls `begin` once all earlier requests on this connection have been answered. Returns false if too many wait already. */
  wait(client: string, { socket }: IncomingMessage, response: ServerResponse, begin: () => void): boolean {
    // Node assigns the socket to one response at a time.
    if (response.socket) {
      begin();
      return true;
    }
    const leave = this.#waiting.tryEnter(client);
    if (!leave) return false;
    const own = this.#ofSocket(socket).add(leave);
    response.once('socket', () => {
      own.delete(leave);
      leave();
      begin();
    });
    return true;
  }

  #ofSocket(socket: Socket): Set<Leave> {
    const known = this.#sockets.get(socket);
    if (known) return known;
    const own = new Set<Leave>();
    this.#sockets.set(socket, own);
    socket.once('close', () => {
      for (const leave of own) leave();
    });
    return own;
  }
}
