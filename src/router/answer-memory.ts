import { type Holding, MemoryPool } from '../lib/fair/memory-pool.js';
import { MAX_ANSWER_BYTES } from '../lib/upstream/answer-limits.js';

/** Whole answers up to here aren't counted, as nearly every one is. */
export const SMALL_ANSWER_BYTES = 64 * 1024;
/** The most that one read of a connection brings: what its socket keeps, and a read. */
const READ_BYTES = 128 * 1024;
/** Of all answers together, as at the edge. */
const MOST_BYTES = 192 * 1024 * 1024;
/** What is left beside the answer that has the turn. */
const SHARED_BYTES = MOST_BYTES - MAX_ANSWER_BYTES - READ_BYTES;
/** An account's answers may hold as much as is left for all others. */
const ACCOUNT_PART = 1;

/** One whole answer, from its 65th KiB until its caller has it. */
export class AnswerShare {
  /** What is counted for it: what has come, and what the next read may bring. */
  held = 0;
  #waits = false;
  #over = false;

  constructor(
    readonly accountId: string,
    private readonly memory: AnswerMemory,
    /** What is counted for it among all answers but the one that has the turn. */
    readonly shared: Holding,
    private readonly goOn: () => void,
  ) {}

  /** Called when `bytes` of the answer have come. False: nothing more may be read until `goOn` is called. */
  grow(bytes: number): boolean {
    const more = bytes + READ_BYTES - this.held;
    if (this.#over || more <= 0) return true;
    if (!this.memory.take(this, more)) {
      this.#waits = true;
      return false;
    }
    this.held += more;
    return true;
  }

  /** Resumes a waiting answer if there is room for one more read. Returns false if there isn't. */
  retry(): boolean {
    if (!this.#waits) return true;
    if (!this.memory.take(this, READ_BYTES)) return false;
    this.held += READ_BYTES;
    this.#waits = false;
    this.goOn();
    return true;
  }

  release(): void {
    if (this.#over) return;
    this.#over = true;
    this.memory.leave(this);
  }
}

/**
 * Memory for whole answers above 64 KiB, which stay until they have come and their callers have them. Where there is no room, an
 * answer waits and its node is held back. One answer at a time has the turn: it has room of its own and never waits, so that in the
 * end everybody goes on. Accounts take turns, and the answers of one account in the order in which they came.
 */
export class AnswerMemory {
  readonly #shared: MemoryPool;
  /** Answers under way, by account; the first of the first account has the turn. */
  readonly #accounts = new Map<string, AnswerShare[]>();
  #first: AnswerShare | undefined;

  /** @param sharedBytes For all but the one that has the turn. */
  constructor(sharedBytes = SHARED_BYTES) {
    this.#shared = new MemoryPool(sharedBytes, ACCOUNT_PART);
  }

  /** Bytes that are counted. One answer of the largest size is the most that they exceed `sharedBytes` by. */
  get usedBytes(): number {
    return this.#shared.used + (this.#first?.held ?? 0);
  }

  /** Begins to count an answer. `goOn` is called when it may be read on, after `grow` said that it may not. */
  enter(accountId: string, goOn: () => void): AnswerShare {
    const share = new AnswerShare(accountId, this, this.#shared.holding(accountId), goOn);
    const others = this.#accounts.get(accountId);
    if (others) others.push(share);
    else this.#accounts.set(accountId, [share]);
    this.#first ??= share;
    return share;
  }

  /** Takes room for an answer, if there is any. Used by the answers themselves, as is `leave`. */
  take(share: AnswerShare, bytes: number): boolean {
    return share === this.#first || share.shared.take(bytes);
  }

  leave(share: AnswerShare): void {
    const { accountId } = share;
    const answers = this.#accounts.get(accountId)!;
    answers.splice(answers.indexOf(share), 1);
    share.shared.release();
    if (share === this.#first) this.#passTurn(accountId);
    if (answers.length === 0) this.#accounts.delete(accountId);
    this.#retry();
  }

  /** Gives the turn to the next account's first answer. */
  #passTurn(accountId: string): void {
    const answers = this.#accounts.get(accountId)!;
    // Back to the end of the line.
    this.#accounts.delete(accountId);
    if (answers.length > 0) this.#accounts.set(accountId, answers);
    const [next] = this.#accounts.values();
    this.#first = next?.[0];
    // Its room is the one that has become free.
    this.#first?.shared.release();
  }

  #retry(): void {
    for (const answers of this.#accounts.values()) {
      for (const answer of answers) if (!answer.retry()) break;
    }
  }
}
