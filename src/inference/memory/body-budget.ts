import { AppError } from '../../errors.js';
import { type Holding, MemoryPool } from '../../lib/fair/memory-pool.js';

/** A request that takes no more memory than this is small, like nearly all requests. */
export const SMALL_BODY_BYTES = 64 * 1024;
/** Overhead of each piece of a body: a body that arrives byte by byte takes far more memory than its length. */
const PIECE_BYTES = 256;
/** An account's bodies get at most a quarter of what is left for all others. */
const BODY_PART = 4;
/** An account's answers get at most as much as is left for all others. */
const ANSWER_PART = 1;
/** If more than this part of the memory for large answers is used, their readers have to be faster. */
const AMPLE_PART = 2 / 3;
const RETRY_AFTER_SECONDS = 1;

export interface BodyBounds {
  /** Memory for requests of up to 64 KiB, with their answers. */
  smallBodyBytes: number;
  /** Memory for larger request bodies. */
  largeBodyBytes: number;
  /** Memory for larger whole answers. */
  answerBytes: number;
}

/**
 * Limits the memory of request bodies and whole answers, which stay in memory until their call is over
 * (requirements T25, F23). Small requests have a pool that large ones can't fill. Large answers have a pool of their own,
 * since their readers decide how long they stay.
 */
export class BodyBudget {
  readonly small: MemoryPool;
  readonly large: MemoryPool;
  readonly answers: MemoryPool;

  constructor(bounds: BodyBounds) {
    this.small = new MemoryPool(bounds.smallBodyBytes, BODY_PART);
    this.large = new MemoryPool(bounds.largeBodyBytes, BODY_PART);
    this.answers = new MemoryPool(bounds.answerBytes, ANSWER_PART);
  }

  get usedBytes(): number {
    return this.small.used + this.large.used + this.answers.used;
  }

  /** Whether little is left of the memory for large answers. */
  get answersAreScarce(): boolean {
    return this.answers.used > this.answers.size * AMPLE_PART;
  }
}

/** One request's part of the budget. Released once, however often `release` is called. */
export class BodyShare {
  readonly #small: Holding;
  readonly #large: Holding;
  readonly #answer: Holding;
  #over = false;
  #pinned = false;

  constructor(
    private readonly budget: BodyBudget,
    accountId: string,
  ) {
    this.#small = budget.small.holding(accountId);
    this.#large = budget.large.holding(accountId);
    this.#answer = budget.answers.holding(accountId);
  }

  /** Whether the request has a large answer. */
  get holdsAnswer(): boolean {
    return this.#answer.bytes > 0;
  }

  /** Bytes by which the answer may still grow, provided that its account has no other large answer. */
  get answerRoom(): number {
    const { size, used } = this.budget.answers;
    return (size - used - this.#answer.bytes) / 2;
  }

  /** Bytes of the large answer that its client has to read within the stall timeout: all of them while memory is scarce. */
  get dueBytes(): number {
    return this.budget.answersAreScarce ? this.#answer.bytes : 0;
  }

  /** Takes memory for a piece of the body. @throws AppError `service_unavailable` */
  receive(piece: number): void {
    // Bytes that come after the end are discarded, so they take no memory.
    if (this.#over) return;
    const bytes = piece + PIECE_BYTES;
    if (this.#large.bytes === 0 && this.#fitsSmall(bytes, BODY_PART)) return;
    // From now on the request is a large one.
    if (!this.#large.take(this.#small.bytes + bytes)) throw noRoom();
    this.#small.release();
  }

  /** Takes memory for `bytes` of the answer. @throws AppError `service_unavailable` */
  grow(bytes: number): void {
    if (this.#over && !this.#pinned) return;
    if (!this.holdsAnswer && this.#fitsSmall(bytes, ANSWER_PART)) return;
    if (!this.#answer.take(bytes)) throw noRoom();
  }

  /** Gives back memory of a large answer. */
  shrink(bytes: number): void {
    this.#answer.give(bytes);
  }

  /** Delays `release` until the returned function is called, since the answer is still in use. */
  pin(): () => void {
    this.#pinned = true;
    return () => {
      this.#pinned = false;
      if (this.#over) this.release();
    };
  }

  release(): void {
    this.#over = true;
    if (this.#pinned) return;
    this.#small.release();
    this.#large.release();
    this.#answer.release();
  }

  #fitsSmall(bytes: number, part: number): boolean {
    return this.#small.bytes + bytes <= SMALL_BODY_BYTES && this.#small.take(bytes, part);
  }
}

/** The refusal of a request or an answer for which the budget has no room. */
export const noRoom = (): AppError =>
  new AppError('service_unavailable', {
    message: 'Too many large requests are in progress. Try again in a moment.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
