import type { EdgeBounds } from './edge-bounds.js';

/**
 * Counts what the edge keeps of requests and answers on their way between clients and the platform, so that whoever
 * sends or reads slowly holds memory within a bound instead of a connection to the platform. One client can fill a
 * quarter of it only.
 */
export class HeldBytes {
  #total = 0;
  readonly #clients = new Map<string, number>();

  constructor(private readonly bounds: Pick<EdgeBounds, 'heldBytes' | 'heldBytesPerClient'>) {}

  hasRoom(client: string): boolean {
    const own = this.#clients.get(client) ?? 0;
    return this.#total < this.bounds.heldBytes && own < this.bounds.heldBytesPerClient;
  }

  /** Counts bytes that are there already: the bounds are passed by one piece at most. */
  add(client: string, bytes: number): void {
    this.#total += bytes;
    this.#clients.set(client, (this.#clients.get(client) ?? 0) + bytes);
  }

  remove(client: string, bytes: number): void {
    if (bytes === 0) return;
    this.#total -= bytes;
    const left = this.#clients.get(client)! - bytes;
    if (left > 0) this.#clients.set(client, left);
    else this.#clients.delete(client);
  }
}
