import { accountOwner, networkOwner } from '../work-owner.js';
import { MemoryPool } from './memory-pool.js';

/** Up to here nothing is counted, as nearly everything that is sent is smaller. */
export const SMALL_BYTES = 1024 * 1024;
/** Of everything that is counted together. */
const MOST_BYTES = 128 * 1024 * 1024;
/** An account may hold as much as is left for all others. */
const ACCOUNT_PART = 1;

/** The reader of an answer, whose pace decides how long the answer stays in memory. */
export interface Reader {
  /** Undefined without a session: then it counts for the network. */
  accountId: string | undefined;
  network: string;
}

/** Memory for what is large and waits for its readers, who are as slow as they like. Each account has a part of it. */
export class ReaderMemory {
  readonly #pool: MemoryPool;

  constructor(bytes = MOST_BYTES) {
    this.#pool = new MemoryPool(bytes, ACCOUNT_PART);
  }

  /** Bytes that are counted. */
  get used(): number {
    return this.#pool.used;
  }

  /** Takes `bytes` for a reader and returns what gives them back; undefined if there is no room. */
  take({ accountId, network }: Reader, bytes: number): (() => void) | undefined {
    const owner = accountId === undefined ? networkOwner(network) : accountOwner(accountId);
    const held = this.#pool.holding(owner);
    return held.take(bytes) ? () => held.release() : undefined;
  }
}
