import type { Pending } from './pending.js';
import type { Spooled } from './spool.js';
import type { OpenIntent, UsageRecord } from './usage-record.js';

export type SpoolCallback = (error?: Error) => void;

/** The recorder, as its entries see it. */
interface Keeper {
  spooled(entry: Entry, error: Error | undefined, segment: number): void;
  settled(entry: Entry): void;
  delayed(entry: Entry): void;
  doubt(entry: Entry): void;
}

/** A finished call of this process, on its way into the spool and from there to the flusher. */
export class Entry implements Pending, Spooled {
  readonly own = true;
  /** Whether the event is committed or a dead letter. */
  done = false;

  constructor(
    private readonly keeper: Keeper,
    public record: UsageRecord,
    /** The segment that holds the event; undefined while it is in memory only. */
    public segment: number | undefined,
    readonly position: number,
    readonly since: number,
    /** Releases the answer, which waits for the spool, or for the commit if the disk refused the event. */
    public answer: SpoolCallback | undefined,
    /** The intent that this event completes; undefined once the spool has closed it. */
    public opened: OpenIntent | undefined,
  ) {}

  written(error: Error | undefined, segment: number): void {
    this.keeper.spooled(this, error, segment);
  }

  settled(): void {
    this.keeper.settled(this);
  }

  delayed(): void {
    this.keeper.delayed(this);
  }

  doubted(): void {
    this.keeper.doubt(this);
  }
}
