import { AppError } from '../../errors.js';
import { type Holding, MemoryPool } from '../../lib/fair/memory-pool.js';

/** A request that holds no more than this is small, as nearly every call is. */
export const SMALL_BODY_BYTES = 64 * 1024;
/** Overhead of each piece of a body: a body that arrives byte by byte takes far more memory than its length. */
const PIECE_BYTES = 256;
/** An account's bodies hold at most a quarter of what is left for all others, its answers at most as much as is left. */
const BODY_PART = 4;
const ANSWER_PART = 1;
/** Beyond this part of the memory for large answers, their readers have to hurry. */
const AMPLE_PART = 2 / 3;
const RETRY_AFTER_SECONDS = 1;

/** Memory for requests of up to 64 KiB with their answers, for larger bodies, and for larger whole answers. */
export interface BodyBounds {
  smallBodyBytes: number;
  largeBodyBytes: number;
  answerBytes: number;
}

/**
 * Request bodies and unstreamed answers stay in memory until their call is over, so their total is limited
 * (requirements T25, F23). Small requests have a pool that large ones can't fill. Large answers have a separate one,
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

/** One request's part of the budget; returned once, however often `release` is called. */
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

  /** Whether it holds a large answer. */
  get holdsAnswer(): boolean {
    return this.#answer.bytes > 0;
  }

  /** Bytes by which its answer may grow at the moment, if its account has no other. */
  get answerRoom(): number {
    const { size, used } = this.budget.answers;
    return (size - used - this.#answer.bytes) / 2;
  }

  /** What the reader of its large answer has to take within its patience: all of it while memory is scarce. */
  get dueBytes(): number {
    return this.budget.answersAreScarce ? this.#answer.bytes : 0;
  }

  /** Takes a piece of the body. @throws AppError `service_unavailable` */
  receive(piece: number): void {
    // The request is over. Later bytes are discarded, so they take no memory.
    if (this.#over) return;
    const bytes = piece + PIECE_BYTES;
    if (this.#large.bytes === 0 && this.#fitsSmall(bytes, BODY_PART)) return;
    // It is a large request from here on.
    if (!this.#large.take(this.#small.bytes + bytes)) throw noRoom();
    this.#small.release();
  }

  /** Takes `bytes` of the answer. @throws AppError `service_unavailable` */
  grow(bytes: number): void {
    if (this.#over && !this.#pinned) return;
    if (!this.holdsAnswer && this.#fitsSmall(bytes, ANSWER_PART)) return;
    if (!this.#answer.take(bytes)) throw noRoom();
  }

  /** Gives back bytes of a large answer. */
  shrink(bytes: number): void {
    this.#answer.give(bytes);
  }

  /** Delays `release` until the returned function is called: the answer stays in memory as long as it is needed. */
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

/** What refuses a request or an answer that the budget has no room for. */
export const noRoom = (): AppError =>
  new AppError('service_unavailable', {
    message: 'Too many large requests are in progress. Try again in a moment.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
