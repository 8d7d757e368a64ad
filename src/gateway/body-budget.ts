import { AppError } from '../errors.js';
import type { EdgeBounds } from './edge-bounds.js';

const RETRY_AFTER_SECONDS = 1;

/**
 * Request bodies, and answers that are sent whole, are held in memory until their call is over, so all of them
 * together have a bound (RELIABILITY.md T25, F23). One account can fill half of it only: the rest stays for others.
 */
export class BodyBudget {
  #used = 0;
  readonly #accounts = new Map<string, number>();

  constructor(private readonly limits: Pick<EdgeBounds, 'bodyBytes' | 'bodyBytesPerAccount'>) {}

  get usedBytes(): number {
    return this.#used;
  }

  /** @throws AppError `service_unavailable` */
  take(accountId: string, bytes: number): void {
    const own = (this.#accounts.get(accountId) ?? 0) + bytes;
    if (own > this.limits.bodyBytesPerAccount) throw full('Too many large requests of this account');
    if (this.#used + bytes > this.limits.bodyBytes) throw full('Too many large requests');
    this.#used += bytes;
    this.#accounts.set(accountId, own);
  }

  give(accountId: string, bytes: number): void {
    if (bytes === 0) return;
    this.#used -= bytes;
    const left = this.#accounts.get(accountId)! - bytes;
    if (left > 0) this.#accounts.set(accountId, left);
    else this.#accounts.delete(accountId);
  }
}

/** What one request holds of the budget; given back once, however often `release` is called. */
export class BodyShare {
  #held = 0;
  #over = false;

  constructor(
    private readonly budget: BodyBudget,
    private readonly accountId: string,
  ) {}

  /** Takes `bytes` more. @throws AppError `service_unavailable` */
  grow(bytes: number): void {
    // The answer is out already: what still comes is thrown away and held by nobody.
    if (this.#over) return;
    this.budget.take(this.accountId, bytes);
    this.#held += bytes;
  }

  release(): void {
    this.#over = true;
    this.budget.give(this.accountId, this.#held);
    this.#held = 0;
  }
}

function full(what: string): AppError {
  return new AppError('service_unavailable', {
    message: `${what} are in flight. Try again in a moment.`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
