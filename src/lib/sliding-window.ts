/** Whether a sliding window admits one more, and its state. */
export interface WindowDecision {
  allowed: boolean;
  limit: number;
  /** How many more are allowed at present. */
  remaining: number;
  /** Milliseconds until the window is empty (allowed) or until one more is allowed (refused). */
  resetMs: number;
}

/**
 * Allows at most `limit` in any period of `windowMs`. Keeps the times of allowed entries in a ring: exact, and O(1) per try. When the
 * clock steps back, entries keep their ages: the newest counts as added now, which frees nothing early and keeps nothing for longer
 * than one window.
 */
export class SlidingWindow {
  /** Number of entries ever added. */
  added = 0;
  #times: Float64Array;
  #next = 0;
  #count = 0;

  constructor(
    limit: number,
    readonly windowMs: number,
  ) {
    this.#times = new Float64Array(Math.max(1, limit));
    this.limit = limit;
  }

  limit: number;

  /** Tries to add an entry at `now` (milliseconds), up to `upTo` entries. A refused try changes nothing. */
  take(now: number, upTo = this.limit): WindowDecision {
    this.#expire(now);
    if (this.#count >= upTo) return this.#refusal(now, upTo);
    this.#add(now);
    return { allowed: true, limit: this.limit, remaining: upTo - this.#count, resetMs: this.windowMs };
  }

  /** Adds an entry that was allowed elsewhere. If the ring is full, it replaces the oldest. */
  note(now: number): void {
    this.#follow(now);
    this.#add(now);
  }

  #add(now: number): void {
    this.added++;
    this.#times[this.#next] = now;
    this.#next = (this.#next + 1) % this.#times.length;
    this.#count = Math.min(this.#count + 1, this.#times.length);
  }

  /** Times of the entries within the window, oldest first. */
  times(now: number): number[] {
    this.#expire(now);
    const times: number[] = [];
    for (let back = this.#count; back > 0; back--) times.push(this.#times[this.#index(back)]!);
    return times;
  }

  /** The decision that `take` would return, without adding an entry. */
  peek(now: number): WindowDecision {
    this.#expire(now);
    if (this.#count >= this.limit) return this.#refusal(now);
    const resetMs = this.#count === 0 ? 0 : this.#newest() + this.windowMs - now;
    return { allowed: true, limit: this.limit, remaining: this.limit - this.#count, resetMs };
  }

  /** Changes the limit, for a change of plan, and keeps current entries. */
  resize(limit: number): void {
    if (limit === this.limit) return;
    const kept: number[] = [];
    for (let back = this.#count; back > 0; back--) kept.push(this.#times[this.#index(back)]!);
    this.#times = new Float64Array(Math.max(1, limit, kept.length));
    this.#times.set(kept);
    this.#count = kept.length;
    this.#next = kept.length % this.#times.length;
    this.limit = limit;
  }

  /** Index of the entry that was added `back` entries ago; 1 is the newest. */
  #index(back: number): number {
    return (this.#next - back + this.#times.length) % this.#times.length;
  }

  #newest(): number {
    return this.#times[this.#index(1)]!;
  }

  /** Moves all times back if the clock has stepped back. */
  #follow(now: number): void {
    if (this.#count === 0) return;
    const ahead = this.#newest() - now;
    if (ahead <= 0) return;
    for (let back = this.#count; back > 0; back--) this.#times[this.#index(back)]! -= ahead;
  }

  #expire(now: number): void {
    this.#follow(now);
    while (this.#count > 0 && this.#times[this.#index(this.#count)]! <= now - this.windowMs) this.#count--;
  }

  #refusal(now: number, upTo = this.limit): WindowDecision {
    // With a lowered limit, several entries must leave before one fits.
    const leaving = this.#count - upTo + 1;
    const at = upTo === 0 ? now : this.#times[this.#index(this.#count - leaving + 1)]!;
    return {
      allowed: false,
      limit: this.limit,
      remaining: 0,
      resetMs: Math.max(1, at + this.windowMs - now),
    };
  }
}
