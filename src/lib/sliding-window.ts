/** Outcome of one try at a sliding window. */
export interface WindowDecision {
  allowed: boolean;
  limit: number;
  /** How many more are allowed now. */
  remaining: number;
  /** Milliseconds until the window is empty (allowed) or until one more is allowed (refused). */
  resetMs: number;
}

/**
 * At most `limit` in any `windowMs`: a ring of the times of those that were allowed. Exact, and O(1) a try. When the
 * clock steps back, those that count keep their ages: the newest is taken to be of now, which frees nothing early and
 * holds nothing for longer than a window.
 */
export class SlidingWindow {
  /** How many were ever added. */
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

  /** Tries to add one at `now` (milliseconds), at most `upTo` of them. A refused try leaves no trace. */
  take(now: number, upTo = this.limit): WindowDecision {
    this.#expire(now);
    if (this.#count >= upTo) return this.#refusal(now, upTo);
    this.#add(now);
    return { allowed: true, limit: this.limit, remaining: upTo - this.#count, resetMs: this.windowMs };
  }

  /** Adds one that somebody else has allowed; when the ring is full, in place of the oldest. */
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

  /** Times of those that count, oldest first. */
  times(now: number): number[] {
    this.#expire(now);
    const times: number[] = [];
    for (let back = this.#count; back > 0; back--) times.push(this.#times[this.#index(back)]!);
    return times;
  }

  /** What `take` would say, without taking. */
  peek(now: number): WindowDecision {
    this.#expire(now);
    if (this.#count >= this.limit) return this.#refusal(now);
    const resetMs = this.#count === 0 ? 0 : this.#newest() + this.windowMs - now;
    return { allowed: true, limit: this.limit, remaining: this.limit - this.#count, resetMs };
  }

  /** Takes another limit (a change of plan) and keeps what counts already. */
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

  /** Index of the one that was added `back` tries ago; 1 is the newest. */
  #index(back: number): number {
    return (this.#next - back + this.#times.length) % this.#times.length;
  }

  #newest(): number {
    return this.#times[this.#index(1)]!;
  }

  /** Moves all times back with a clock that has stepped back. */
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
    // Room comes when so many have left that one fits: with a lowered limit that isn't the oldest.
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
