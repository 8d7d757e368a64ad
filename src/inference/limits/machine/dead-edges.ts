import type { CountedEdge } from './counted-edge.js';

/** What a dead edge had open counts for so long, unless another says that it has committed it. */
const GONE_MS = 120_000;
/** Every edge has read the balances again by then (key-cache.ts). */
const REPLACED_MS = 10_000;

/**
 * Edges whose line has ended before everything they had open was committed. Any of it may be in their spools, so it counts until
 * these are committed. The spool of an edge that nobody finds is lost.
 */
export class DeadEdges {
  readonly #timers = new Map<CountedEdge, NodeJS.Timeout>();
  /** Ids of edges that were replaced before their line ended. */
  readonly #replaced = new Set<string>();

  /** `release` gives back what else was counted for an edge. */
  constructor(private readonly release: (edge: CountedEdge) => void) {}

  add(edge: CountedEdge): void {
    this.#dropIn(edge, this.#replaced.has(edge.id) ? REPLACED_MS : GONE_MS);
  }

  /** Another edge has committed what the edge with this id had recorded. `isJoined`: its line has not ended yet. */
  replaced(id: string, isJoined: boolean): void {
    for (const edge of this.#timers.keys()) if (edge.id === id) this.#dropIn(edge, REPLACED_MS);
    if (isJoined) this.#replaced.add(id);
  }

  edges(): Iterable<CountedEdge> {
    return this.#timers.keys();
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  #dropIn(edge: CountedEdge, ms: number): void {
    clearTimeout(this.#timers.get(edge));
    const timer = setTimeout(() => {
      this.#timers.delete(edge);
      this.#replaced.delete(edge.id);
      for (const part of edge.parts()) {
        part.dropHolds();
        part.dropCharges();
        part.lease(-part.leased);
      }
      this.release(edge);
    }, ms);
    timer.unref();
    this.#timers.set(edge, timer);
  }
}
