/** States by id that outlive the cached rows they belong to. */
export class LastingStates<State extends { readonly idle: boolean }> {
  readonly #states = new Map<string, State>();
  /** Ids of the states that the last sweep found idle and unused. */
  #unused = new Set<string>();

  get size(): number {
    return this.#states.size;
  }

  get(id: string): State | undefined {
    return this.#states.get(id);
  }

  /** The state of this id, created if it is missing. */
  of(id: string, make: () => State): State {
    this.#unused.delete(id);
    const known = this.#states.get(id);
    if (known) return known;
    const state = make();
    this.#states.set(id, state);
    return state;
  }

  /**
   * Forgets states that were idle and unused at this sweep and the one before. A call may get an entry just before the entry is
   * dropped, and hold or charge a moment later. It must not do so on a state that other calls no longer see.
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
