import { errorEntry } from '../errors.js';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import { Entry, type SpoolCallback } from './entry.js';
import type { Flusher } from './flusher.js';
import { segmentEvents } from './replay.js';
import { type SpilledSegment, SpilledSegments } from './spilled-segments.js';
import type { Spool } from './spool.js';
import type { CallIntent, OpenIntent, UsageRecord } from './usage-record.js';

export interface RecorderOptions {
  spool: Spool;
  flusher: Flusher;
  clock: Clock;
  log: Logger;
  /** Maximum uncommitted events in memory; further ones are read from the segments later. */
  memoryEvents: number;
  /** How long an answer waits if the commit of its event is uncertain. */
  doubtMs: number;
}

/** Maximum events in memory only, while the disk is full and the database unavailable. */
const MAX_UNSPOOLED = 10_000;

/** The event of a call whose answer couldn't be recorded: the caller gets an error and pays nothing. Tokens stay visible. */
function waived(record: UsageRecord): UsageRecord {
  const why = { errorCode: 'service_unavailable', errorMessage: errorEntry('service_unavailable').message };
  return { ...record, status: 'error', ...why, httpStatus: 503, cost: 0n };
}

const refused = (): Error => new Error('neither the spool nor the database accepted the event');

/** Takes finished calls to the spool and from there to the flusher. */
export class Recorder {
  private position = 0;
  private readonly unspooled = new Set<Entry>();
  /** From this segment on, events stay on the disk until memory has room. */
  private spillFrom: number | undefined;
  private readonly spilled = new SpilledSegments();
  /** Events whose commit got no response. */
  private readonly inDoubt = new Set<Entry>();
  private refilling = false;
  private closed = false;

  constructor(private readonly options: RecorderOptions) {}

  begin(intent: CallIntent): OpenIntent {
    return this.options.spool.begin(intent);
  }

  finish(record: UsageRecord, written: SpoolCallback, opened?: OpenIntent): void {
    if (this.closed) {
      written(new Error('metering has stopped'));
      return;
    }
    const entry = new Entry(this, record, undefined, ++this.position, record.createdAt, written, opened);
    this.options.spool.finish(entry);
  }

  /** The spool has written the event, or could not. */
  spooled(entry: Entry, error: Error | undefined, segment: number): void {
    if (error) {
      this.keep(entry, error);
      return;
    }
    entry.segment = segment;
    // The entry lives until its flush; without the intent, garbage collections copy less.
    entry.opened = undefined;
    try {
      this.release(entry);
    } finally {
      this.pass(entry, segment);
    }
  }

  /** The event is committed or a dead letter. */
  settled(entry: Entry): void {
    entry.done = true;
    if (entry.segment !== undefined) {
      this.options.spool.settle(entry.segment);
    } else {
      this.unspooled.delete(entry);
      this.options.spool.forget(entry.opened);
      this.release(entry);
    }
    this.refill();
  }

  /** The account is locked: an answer that waits for the commit could wait forever. */
  delayed(entry: Entry): void {
    if (!this.inDoubt.has(entry)) this.waive(entry, refused());
  }

  /**
   * The event was sent and may be committed, so an answer that now ended with an error could still be charged. The answer
   * waits for the next attempt or for the spool, at most `doubtMs`.
   */
  doubt(entry: Entry): void {
    if (!entry.answer || this.inDoubt.has(entry)) return;
    this.inDoubt.add(entry);
    setTimeout(() => this.giveUp(entry), this.options.doubtMs).unref();
  }

  accepting(): boolean {
    if (this.closed) return false;
    if (this.unspooled.size >= MAX_UNSPOOLED) return false;
    return !(this.options.spool.failing() && this.options.flusher.failing());
  }

  backlog(): { events: number; oldestMs: number } {
    const events = this.spilled.events + this.options.flusher.size();
    const times = [this.options.flusher.oldestSince(), this.spilled.oldest?.since].filter(
      (time) => time !== undefined,
    );
    const oldestMs = times.length > 0 ? Math.max(0, this.options.clock.now() - Math.min(...times)) : 0;
    return { events, oldestMs };
  }

  newest(): number {
    return this.position;
  }

  /** Whether every event of this process up to `position` is committed or a dead letter. */
  isCommitted(position: number): boolean {
    if (this.spilled.reaches(position)) return false;
    for (const pending of this.options.flusher.unsettled()) {
      if (pending.own && pending.position <= position) return false;
    }
    return true;
  }

  /** The database is unavailable: answers that wait for a commit end with an error. */
  abandonAnswers(): void {
    for (const entry of this.unspooled) if (!this.inDoubt.has(entry)) this.waive(entry, refused());
  }

  /** Writes the events that exist only in memory to the spool. Called when the disk is writable again. */
  respool(): void {
    this.append([...this.unspooled]);
  }

  /** Appends the events of segments that may not be on the disk again. */
  reappend(isDoubtful: (segment: number) => boolean): void {
    const entries = [...this.options.flusher.unsettled()].filter((pending) => pending instanceof Entry);
    this.append(entries.filter((entry) => entry.segment !== undefined && isDoubtful(entry.segment)));
  }

  /** Reads spilled events from the disk when memory has room. */
  refill(): void {
    const { flusher, memoryEvents, log } = this.options;
    if (this.refilling || this.closed || flusher.failing()) return;
    if (this.spillFrom === undefined && this.spilled.size === 0) return;
    if (this.inMemory() > memoryEvents / 2) return;
    this.refilling = true;
    this.readSpilled()
      .catch((error: unknown) => log.error({ err: error }, 'failed to read spilled usage events'))
      .finally(() => {
        this.refilling = false;
      });
  }

  close(): void {
    this.closed = true;
    for (const entry of this.inDoubt) this.giveUp(entry);
    this.abandonAnswers();
  }

  private release(entry: Entry, error?: Error): void {
    const answer = entry.answer;
    entry.answer = undefined;
    try {
      answer?.(error);
    } catch (thrown) {
      this.options.log.error({ err: thrown }, 'a spool callback failed');
    }
  }

  /** The disk refused the event: it goes straight to the database, while the answer waits. */
  private keep(entry: Entry, error: Error): void {
    this.unspooled.add(entry);
    if (this.options.flusher.failing() || this.closed) {
      this.waive(entry, error);
      this.options.flusher.add(entry);
    } else {
      this.options.flusher.addUrgent(entry);
    }
  }

  private waive(entry: Entry, error: Error): void {
    if (!entry.answer) return;
    entry.record = waived(entry.record);
    this.release(entry, error);
  }

  private giveUp(entry: Entry): void {
    this.inDoubt.delete(entry);
    if (!entry.answer) return;
    const event_id = entry.record.id;
    this.options.log.error({ event_id }, 'answered a call with an error that may have been charged');
    this.waive(entry, refused());
  }

  private append(entries: Entry[]): void {
    for (const entry of entries) {
      const { record } = entry;
      this.options.spool.finish({
        record,
        opened: entry.opened,
        written: (error, segment) => {
          if (!error) this.appended(entry, record, segment);
        },
      });
    }
  }

  private appended(entry: Entry, record: UsageRecord, segment: number): void {
    // The entry is in memory; reading the copy from the segment as well would settle it twice.
    if (this.spillFrom !== undefined && segment >= this.spillFrom) this.spilled.addCopy(segment, record.id);
    // If the record was committed or has changed meanwhile, the copy isn't needed.
    if (entry.done || entry.record !== record) {
      this.options.spool.settle(segment);
      return;
    }
    const former = entry.segment;
    entry.segment = segment;
    this.unspooled.delete(entry);
    if (former !== undefined) this.options.spool.settle(former);
    this.release(entry);
  }

  /** Number of events in memory. Events of locked accounts have a separate limit of the same size. */
  private inMemory(): number {
    const { flusher, memoryEvents } = this.options;
    return flusher.size() - Math.min(flusher.heldEvents(), memoryEvents);
  }

  /** Passes a spooled event to the flusher, or leaves it on the disk while memory is full. */
  private pass(entry: Entry, segment: number): void {
    const { flusher, memoryEvents, spool } = this.options;
    if (this.spillFrom === undefined && this.inMemory() >= memoryEvents) this.spillFrom = spool.rotate();
    if (this.spillFrom === undefined || segment < this.spillFrom) {
      flusher.add(entry);
      return;
    }
    this.spilled.add(segment, entry.position, entry.since);
  }

  private async readSpilled(): Promise<void> {
    const { spool, flusher } = this.options;
    // Only the current segment is left, so memory has caught up: start a new one, whose events go straight to the flusher.
    if (this.spillFrom !== undefined && this.spilled.size <= 1) {
      spool.rotate();
      this.spillFrom = undefined;
      this.spilled.forgetCopies();
    }
    const segment = this.spilled.oldest;
    if (segment === undefined) return;
    const { number, position, since } = segment;
    const entries: Entry[] = [];
    try {
      for await (const records of segmentEvents(spool.pathOf(number))) {
        for (const record of records) {
          if (this.spilled.isCopy(number, record.id)) continue;
          entries.push(new Entry(this, record, number, position, since, undefined, undefined));
        }
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      this.lost(segment, error);
      return;
    }
    this.spilled.delete(number);
    for (const entry of entries) flusher.add(entry);
  }

  /** Somebody deleted the folder: events that were on the disk only are lost. */
  private lost({ number, events }: SpilledSegment, error: unknown): void {
    this.options.log.error({ err: error, events }, 'a spool segment was deleted: its usage is not charged');
    this.spilled.delete(number);
    for (let i = 0; i < events; i++) this.options.spool.settle(number);
  }
}
