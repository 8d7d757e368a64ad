import type { AccountSlice } from './account-slice.rules.js';
import type { TimeSlice } from './time-slice.rules.js';

/**
 * A statement about money and alerts that must always be true. Each of its queries returns one `subject` per violation and reads
 * everything in one snapshot, so nothing that happens between two queries is a violation.
 */
export interface Invariant {
  /** Short and stable: the label of the metric. */
  name: string;
  guarantee: string;
  /** Reads the present state, which doesn't grow with the number of calls. */
  state?: string;
  /** Reads the calls, or their sums, of a stretch of time. */
  times?: (slice: TimeSlice) => string;
  /** Reads ledger entries of some accounts, or calls that were charged between them. */
  accounts?: (slice: AccountSlice) => string;
}

/** Runs one statement in a transaction of its own. */
export type Query = <Row>(statement: string) => Promise<Row[]>;
