import { type Holding, MemoryPool } from '../lib/fair/memory-pool.js';
import { MAX_ANSWER_BYTES } from '../lib/upstream/answer-limits.js';

/** Whole answers up to this size aren't counted; nearly all are smaller. */
export const SMALL_ANSWER_BYTES = 64 * 1024;
/** Most bytes that one read of a connection adds: its socket's buffer and one read. */
const READ_BYTES = 128 * 1024;
/** For all large answers together, the same as at the edge. */
const MOST_BYTES = 192 * 1024 * 1024;
/** What remains beside the answer that has the turn. */
const SHARED_BYTES = MOST_BYTES - MAX_ANSWER_BYTES - READ_BYTES;
/** An account's answers may hold as much as remains free for all others. */
const ACCOUNT_PART = 1;

/** The memory of one whole answer, from its 65th KiB until its caller has received it. */
export class AnswerShare {
  /** Bytes counted for this answer: those received, and room for the next read. */
  held = 0;
  #isWaiting = false;
  #over = false;

  constructor(
    readonly accountId: string,
    private readonly memory: AnswerMemory,
    /** Its bytes in the shared pool; the answer that has the turn takes none from there. */
    readonly shared: Holding,
    private readonly onRoom: () => void,
  ) {}

  /** Called when `bytes` of the answer have arrived. Returns false if nothing more may be read until `onRoom` is called. */
  grow(bytes: number): boolean {
    const more = bytes + READ_BYTES - this.held;
    if (this.#over || more <= 0) return true;
    if (!this.memory.take(this, more)) {
      this.#isWaiting = true;
      return false;
    }
    this.held += more;
    return true;
  }

  /** Resumes the answer if it is waiting and there is room for one more read. Returns false if there isn't. */
  retry(): boolean {
    if (!this.#isWaiting) return true;
    if (!this.memory.take(this, READ_BYTES)) return false;
    this.held += READ_BYTES;
    this.#isWaiting = false;
    this.onRoom();
    return true;
  }

  release(): void {
    if (this.#over) return;
    this.#over = true;
    this.memory.leave(this);
  }
}

/**
 * Memory for whole answers above 64 KiB, which are kept until they are complete and their callers have received them. When there is
 * no room, an answer waits and its node is paused. One answer at a time has the turn: it has room of its own and never waits, so
 * every answer finishes eventually. Accounts take turns; answers of one account go first come, first served.
 */
export class AnswerMemory {
  readonly #shared: MemoryPool;
  /** Answers in progress, by account; the first answer of the first account has the turn. */
  readonly #accounts = new Map<string, AnswerShare[]>();
  #first: AnswerShare | undefined;

  /** @param sharedBytes For all answers except the one that has the turn. */
  constructor(sharedBytes = SHARED_BYTES) {
    this.#shared = new MemoryPool(sharedBytes, ACCOUNT_PART);
  }

  /** Bytes counted at present. They exceed `sharedBytes` by at most one answer of the largest size. */
  get usedBytes(): number {
    return this.#shared.used + (this.#first?.held ?? 0);
  }

  /** Starts counting an answer. `onRoom` is called when reading may resume after `grow` returned false. */
  enter(accountId: string, onRoom: () => void): AnswerShare {
    const share = new AnswerShare(accountId, this, this.#shared.holding(accountId), onRoom);
    const others = this.#accounts.get(accountId);
    if (others) others.push(share);
    else this.#accounts.set(accountId, [share]);
    this.#first ??= share;
    return share;
  }

  /** Takes room for an answer, if there is any. Only `AnswerShare` calls this and `leave`. */
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
    // The account moves to the end of the queue.
    this.#accounts.delete(accountId);
    if (answers.length > 0) this.#accounts.set(accountId, answers);
    const [next] = this.#accounts.values();
    this.#first = next?.[0];
    // It now uses the room that has become free.
    this.#first?.shared.release();
  }

  #retry(): void {
    for (const answers of this.#accounts.values()) {
      for (const answer of answers) if (!answer.retry()) break;
    }
  }
}
