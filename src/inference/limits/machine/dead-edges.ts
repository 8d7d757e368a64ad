import type { CountedEdge } from './counted-edge.js';

/** What a dead edge had open counts for so long, unless another says that it has found its spool, or committed it. */
const GONE_MS = 120_000;
/** Every edge has read the balances again by then (key-cache.ts). */
const REPLACED_MS = 10_000;

/**
 * Edges whose line has ended before everything they had open was committed. Any of it may be in their spools, so it counts until
 * these are committed. A spool that nobody finds counts as lost.
 */
export class DeadEdges {
  readonly #timers = new Map<CountedEdge, NodeJS.Timeout>();
  /** Ids of edges that were replaced, until they are forgotten. */
  readonly #replaced = new Set<string>();

  /** `release` gives back what else was counted for an edge. */
  constructor(private readonly release: (edge: CountedEdge) => void) {}

  add(edge: CountedEdge): void {
    this.#dropIn(edge, this.#replaced.has(edge.id) ? REPLACED_MS : GONE_MS);
  }

  /** Another edge has the spool of the edge with this id, and commits it once the database lets it. It says so every few seconds. */
  found(id: string): void {
    if (this.#replaced.has(id)) return;
    for (const edge of this.#of(id)) this.#dropIn(edge, GONE_MS);
  }

  /** Another edge has committed what the edge with this id had recorded. `isJoined`: its line has not ended yet. */
  replaced(id: string, isJoined: boolean): void {
    const edges = this.#of(id);
    if (isJoined || edges.length > 0) this.#replaced.add(id);
    for (const edge of edges) this.#dropIn(edge, REPLACED_MS);
  }

  edges(): Iterable<CountedEdge> {
    return this.#timers.keys();
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  #of(id: string): CountedEdge[] {
    return [...this.#timers.keys()].filter((edge) => edge.id === id);
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
