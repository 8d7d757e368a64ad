import type { Pending } from './pending.js';
import type { Spooled } from './spool.js';
import type { OpenIntent, UsageRecord } from './usage-record.js';

export type SpoolCallback = (error?: Error) => void;

/** Callbacks for the outcome of an event. */
interface Keeper {
  spooled(entry: Entry, error: Error | undefined, segment: number): void;
  settled(entry: Entry): void;
  delayed(entry: Entry): void;
  doubt(entry: Entry): void;
}

/** A finished call of this process, on its way into the spool and from there to the flusher. */
export class Entry implements Pending, Spooled {
  readonly own = true;
  /** Whether it is committed or set aside. */
  done = false;

  constructor(
    private readonly keeper: Keeper,
    public record: UsageRecord,
    /** The segment that holds it; undefined while it is in memory only. */
    public segment: number | undefined,
    readonly position: number,
    readonly since: number,
    /** The answer that waits for the spool, or for the commit when the disk didn't take the event. */
    public answer: SpoolCallback | undefined,
    /** The intent that ends with it; undefined once the spool has ended it. */
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
