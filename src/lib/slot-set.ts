/**
 * What comes and goes with every call, in numbered slots that are used again. A Set or Map under such a churn makes a
 * new table every few hundred changes, and each dead table points to the next: once one of them is in old space, the
 * scavenger keeps all that follow and everything they held, until the next full collection. Measured on the edge:
 * 18 µs of collecting per call, of which 2 are left.
 */
export class SlotSet<Value extends object> {
  readonly #slots: (Value | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#slots.length - this.#free.length;
  }

  /** @returns The slot, to be given to `delete`. */
  add(value: Value): number {
    const slot = this.#free.pop() ?? this.#slots.length;
    this.#slots[slot] = value;
    return slot;
  }

  /** Again, or with a slot that another value has got since: nothing. */
  delete(slot: number, value: Value): void {
    if (this.#slots[slot] !== value) return;
    this.#slots[slot] = undefined;
    this.#free.push(slot);
  }

  *[Symbol.iterator](): Generator<Value> {
    for (const value of this.#slots) if (value) yield value;
  }
}
