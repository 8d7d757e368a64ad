/**
 * A set for values that come and go with every call, in numbered slots that are reused. With such churn, a Set or Map allocates a new
 * table every few hundred changes, and each dead table points to the next: once one is in old space, the scavenger keeps all later
 * tables and their values until the next full collection. Measured on the edge: 18 µs of garbage collection per call, of which 2 are
 * left.
 */
export class SlotSet<Value extends object> {
  readonly #slots: (Value | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#slots.length - this.#free.length;
  }

  /** @returns The slot, for `delete`. */
  add(value: Value): number {
    const slot = this.#free.pop() ?? this.#slots.length;
    this.#slots[slot] = value;
    return slot;
  }

  /** Does nothing if the value was deleted before, also if another value has its slot now. */
  delete(slot: number, value: Value): void {
    if (this.#slots[slot] !== value) return;
    this.#slots[slot] = undefined;
    this.#free.push(slot);
  }

  *[Symbol.iterator](): Generator<Value> {
    for (const value of this.#slots) if (value) yield value;
  }
}
