import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.js';

const TTL_MS = 1_000;
export const MAX_MISSING = 50_000;

/** Hashes of keys that don't exist, for a second or until a notification may announce one of them. */
export class MissingKeys {
  /** Each with the number of notifications until it was read. */
  #hashes: LRUCache<string, number> | undefined;
  #notified = 0;

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.#hashes?.size ?? 0;
  }

  has(hash: string): boolean {
    return this.#hashes?.get(hash) === this.#notified;
  }

  /** The first of them makes the place for all, which takes as long as a hundred calls. */
  add(hash: string): void {
    this.#hashes ??= new LRUCache({
      max: MAX_MISSING,
      ttl: TTL_MS,
      perf: { now: () => this.clock.now() },
    });
    this.#hashes.set(hash, this.#notified);
  }

  /** A key that was just made may have been asked for a moment before. */
  notified(): void {
    this.#notified++;
  }
}
