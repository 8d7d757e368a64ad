import type { EdgeBounds } from './edge-bounds.js';

/**
 * Counts the bytes of the platform's answers that the edge buffers for their readers. A slow client occupies this bounded memory
 * instead of a connection to the platform. One client can take a quarter of it.
 */
export class HeldBytes {
  #total = 0;
  readonly #clients = new Map<string, number>();

  constructor(private readonly bounds: Pick<EdgeBounds, 'heldBytes' | 'heldBytesPerClient'>) {}

  hasRoom(client: string): boolean {
    const own = this.#clients.get(client) ?? 0;
    return this.#total < this.bounds.heldBytes && own < this.bounds.heldBytesPerClient;
  }

  /** Counts bytes that have already arrived. Callers stop after that, so the bound is exceeded by one chunk at most. */
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
