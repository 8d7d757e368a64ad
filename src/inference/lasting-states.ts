/** States by id that outlive the rows they were read with. */
export class LastingStates<State extends { readonly idle: boolean }> {
  readonly #states = new Map<string, State>();
  /** Those that the last sweep found idle and unused. */
  #unused = new Set<string>();

  get size(): number {
    return this.#states.size;
  }

  get(id: string): State | undefined {
    return this.#states.get(id);
  }

  /** The state of an id, made if there is none. */
  of(id: string, make: () => State): State {
    this.#unused.delete(id);
    const known = this.#states.get(id);
    if (known) return known;
    const state = make();
    this.#states.set(id, state);
    return state;
  }

  /**
   * Forgets states that were idle and unused since the last sweep. A call that has just got its entry may hold or charge
   * a moment after the entry is gone, and must not use a state that no one else sees.
   */
  sweep(isUsed: (id: string) => boolean): void {
    const unused = new Set<string>();
    for (const [id, state] of this.#states) {
      if (!state.idle || isUsed(id)) continue;
      if (this.#unused.has(id)) this.#states.delete(id);
      else unused.add(id);
    }
    this.#unused = unused;
  }
}
