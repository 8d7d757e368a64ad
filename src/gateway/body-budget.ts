import { AppError } from '../errors.js';
import type { EdgeBounds } from './edge-bounds.js';

/** A request that holds no more than this is small, as nearly every call is. */
export const SMALL_BODY_BYTES = 64 * 1024;
/** What each piece of a body costs beside its bytes: a body that comes byte by byte takes far more than it says. */
const PIECE_BYTES = 256;
/**
 * What an account holds is at most a quarter of what is left for all others when it sends a body; when it gets an
 * answer, for which it pays, at most as much as is left.
 */
const BODY_PART = 4;
const ANSWER_PART = 1;
const RETRY_AFTER_SECONDS = 1;

/** Memory that accounts share. The more of it is in use, the less one account may hold: there is always room for others. */
class Pool {
  used = 0;
  readonly #accounts = new Map<string, number>();

  constructor(private readonly size: number) {}

  /** Takes `bytes`, if the account then holds at most a `part`-th of what is left. */
  take(accountId: string, bytes: number, part: number): boolean {
    const own = (this.#accounts.get(accountId) ?? 0) + bytes;
    const used = this.used + bytes;
    if (own * part > this.size - used) return false;
    this.used = used;
    this.#accounts.set(accountId, own);
    return true;
  }

  give(accountId: string, bytes: number): void {
    this.used -= bytes;
    const left = this.#accounts.get(accountId)! - bytes;
    if (left > 0) this.#accounts.set(accountId, left);
    else this.#accounts.delete(accountId);
  }
}

/**
 * Request bodies, and answers that are sent whole, are held in memory until their call is over, so all of them
 * together have a bound (RELIABILITY.md T25, F23). Small requests have a pool that large ones can't fill.
 */
export class BodyBudget {
  readonly small: Pool;
  readonly large: Pool;

  constructor({ smallBodyBytes, largeBodyBytes }: Pick<EdgeBounds, 'smallBodyBytes' | 'largeBodyBytes'>) {
    this.small = new Pool(smallBodyBytes);
    this.large = new Pool(largeBodyBytes);
  }

  get usedBytes(): number {
    return this.small.used + this.large.used;
  }
}

/** What one request holds of the budget; given back once, however often `release` is called. */
export class BodyShare {
  #held = 0;
  #pool: Pool;
  #over = false;

  constructor(
    private readonly budget: BodyBudget,
    private readonly accountId: string,
  ) {
    this.#pool = budget.small;
  }

  /** Takes a piece of the body. @throws AppError `service_unavailable` */
  receive(bytes: number): void {
    this.#take(bytes + PIECE_BYTES, BODY_PART);
  }

  /** Takes `bytes` of the answer. @throws AppError `service_unavailable` */
  grow(bytes: number): void {
    this.#take(bytes, ANSWER_PART);
  }

  release(): void {
    this.#over = true;
    if (this.#held === 0) return;
    this.#pool.give(this.accountId, this.#held);
    this.#held = 0;
  }

  #take(bytes: number, part: number): void {
    // The request is over. Later bytes are discarded, so they take no memory.
    if (this.#over) return;
    const { small } = this.budget;
    if (this.#pool === small) {
      const fits = this.#held + bytes <= SMALL_BODY_BYTES && small.take(this.accountId, bytes, part);
      if (!fits && !this.#enlarge(bytes, part)) throw full();
    } else if (!this.#pool.take(this.accountId, bytes, part)) throw full();
    this.#held += bytes;
  }

  /** Moves to the pool of large requests, with `bytes` more. */
  #enlarge(bytes: number, part: number): boolean {
    const { small, large } = this.budget;
    if (!large.take(this.accountId, this.#held + bytes, part)) return false;
    if (this.#held > 0) small.give(this.accountId, this.#held);
    this.#pool = large;
    return true;
  }
}

const full = (): AppError =>
  new AppError('service_unavailable', {
    message: 'Too many large requests are in flight. Try again in a moment.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
