import type { UsageRecord } from './usage-record.js';

/** An event on its way to the database. */
export interface Pending {
  record: UsageRecord;
  /** Whether it counts in this process until it is settled: what it has recorded itself or taken over. */
  own: boolean;
  /** Whether its process may live, and may be another installation's: then an account that doesn't exist is no fault. */
  borrowed?: boolean;
  /** Order of recording; what `drain` waits for. */
  position: number;
  /** When it was recorded, by the clock, for its age. */
  since: number;
  /** Called once: it is committed, or set aside since the database refuses it. */
  settled(): void;
  /** Called when its account is locked: it may take as long as the lock is held. If it isn't `own`, also when it is refused. */
  delayed?(): void;
  /** Called when it was sent, and nobody knows whether it was committed: sent again, it says so. */
  doubted?(): void;
}
