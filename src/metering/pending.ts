import type { UsageRecord } from './usage-record.js';

/** An event on its way to the database. */
export interface Pending {
  record: UsageRecord;
  /** Whether this process recorded the event or took it over; it counts here until it is settled. */
  own: boolean;
  /** Whether its process may be alive or belong to another installation, so that a missing account is no error. */
  borrowed?: boolean;
  /** Order of recording; `drain` waits up to a position. */
  position: number;
  /** When it was recorded, by the clock. */
  since: number;
  /** Called once, when the event is committed or became a dead letter. */
  settled(): void;
  /** Called when the account is locked, which may last. For events that aren't `own` also when the database rejects them. */
  delayed?(): void;
  /** Called when the event was sent but the outcome is unknown. The next attempt decides. */
  doubted?(): void;
}
