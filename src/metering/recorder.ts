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
  /** Events kept in memory while they wait; the rest is read again from the segments. */
  memoryEvents: number;
  /** How long an answer waits to hear whether its event is committed. */
  doubtMs: number;
}

/** Events that may exist in memory only, while the disk is full and the database away. */
const MAX_UNSPOOLED = 10_000;

/** What an unrecorded answer becomes: callers that receive an error pay nothing. The operator still sees the tokens. */
function waived(record: UsageRecord): UsageRecord {
  const why = { errorCode: 'service_unavailable', errorMessage: errorEntry('service_unavailable').message };
  return { ...record, status: 'error', ...why, httpStatus: 503, cost: 0n };
}

const refused = (): Error => new Error('neither the spool nor the database accepted the event');

/** Brings finished calls into the spool and from there to the flusher. */
export class Recorder {
  private position = 0;
  private readonly unspooled = new Set<Entry>();
  /** From this segment on, events stay on the disk only until memory has room. */
  private spillFrom: number | undefined;
  private readonly spilled = new SpilledSegments();
  /** Events whose commit was not answered. */
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
    // It waits for its flush, and each garbage collection copies what it holds.
    entry.opened = undefined;
    try {
      this.release(entry);
    } finally {
      this.pass(entry, segment);
    }
  }

  /** The event is committed or set aside. */
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

  /** Its account is locked: an answer that waits for the commit could wait for ever. */
  delayed(entry: Entry): void {
    if (!this.inDoubt.has(entry)) this.waive(entry, refused());
  }

  /**
   * The event was sent to the database and may be committed: an answer that ended with an error now could be charged. It waits
   * for the next try, or for the spool, no longer than a try takes.
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

  /** Position of the newest event. */
  newest(): number {
    return this.position;
  }

  /** Whether every event of this process up to a position is committed or set aside. */
  isCommitted(position: number): boolean {
    if (this.spilled.reaches(position)) return false;
    for (const pending of this.options.flusher.unsettled()) {
      if (pending.own && pending.position <= position) return false;
    }
    return true;
  }

  /** The database is away: answers that wait for it end with an error. */
  abandonAnswers(): void {
    for (const entry of this.unspooled) if (!this.inDoubt.has(entry)) this.waive(entry, refused());
  }

  /** The disk is back: what is in memory only goes to the spool. */
  respool(): void {
    this.append([...this.unspooled]);
  }

  /** Appends records again whose segment may not reach the disk. */
  reappend(isDoubtful: (segment: number) => boolean): void {
    const entries = [...this.options.flusher.unsettled()].filter((pending) => pending instanceof Entry);
    this.append(entries.filter((entry) => entry.segment !== undefined && isDoubtful(entry.segment)));
  }

  /** Reads spilled events again when memory has room. */
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

  /** The disk refused the event: the database may take it directly, while the answer waits. */
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
    // The entry has it in memory: were it read from there as well, it would be reported as settled twice.
    if (this.spillFrom !== undefined && segment >= this.spillFrom) this.spilled.addCopy(segment, record.id);
    // A record that has changed or was committed since doesn't need this copy, which may then be dropped immediately.
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

  /** Events in memory; those of locked accounts have a separate limit of the same size. */
  private inMemory(): number {
    const { flusher, memoryEvents } = this.options;
    return flusher.size() - Math.min(flusher.heldEvents(), memoryEvents);
  }

  /** Hands a spooled event to the flusher, or leaves it on the disk while memory is full. */
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
    // When only the current segment is left, memory has caught up: it is closed, and new events go the short way.
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

  /** Someone has deleted the folder: what was on the disk only is gone, and nothing else waits for it. */
  private lost({ number, events }: SpilledSegment, error: unknown): void {
    this.options.log.error({ err: error, events }, 'a spool segment was deleted: its usage is not charged');
    this.spilled.delete(number);
    for (let i = 0; i < events; i++) this.options.spool.settle(number);
  }
}
