import { accountOwner, networkOwner } from '../work-owner.js';
import { MemoryPool } from './memory-pool.js';

/** Answers up to this size aren't counted; nearly all are smaller. */
export const SMALL_BYTES = 1024 * 1024;
/** For all counted answers together. */
const MOST_BYTES = 128 * 1024 * 1024;
/** An account may hold as much as remains free for all others. */
const ACCOUNT_PART = 1;

/** The reader of an answer, whose speed decides how long the answer stays in memory. */
export interface Reader {
  /** Undefined without a session; then the answer counts for the network. */
  accountId: string | undefined;
  network: string;
}

/** Memory for large answers that wait for their readers, who may be slow. Accounts share it fairly. */
export class ReaderMemory {
  readonly #pool: MemoryPool;

  constructor(bytes = MOST_BYTES) {
    this.#pool = new MemoryPool(bytes, ACCOUNT_PART);
  }

  /** Bytes counted at present. */
  get used(): number {
    return this.#pool.used;
  }

  /** Takes `bytes` for a reader and returns the function that gives them back; undefined if there is no room. */
  take({ accountId, network }: Reader, bytes: number): (() => void) | undefined {
    const owner = accountId === undefined ? networkOwner(network) : accountOwner(accountId);
    const held = this.#pool.holding(owner);
    return held.take(bytes) ? () => held.release() : undefined;
  }
}
