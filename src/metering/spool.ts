import { close, fsync, open, rmSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Logger } from '../lib/logger.js';
import { SlotSet } from '../lib/slot-set.js';
import { segmentName } from './orphans.js';
import { Segment, type SpoolDisk } from './segment.js';
import { eventPayload, frameBound, intentPayload, segmentHeader, writeFrame } from './spool-record.js';
import type { CallIntent, OpenIntent, UsageRecord } from './usage-record.js';

const MAX_SEGMENT_BYTES = 8 * 1024 * 1024;
const MAX_SEGMENT_AGE_MS = 5_000;
/** A power cut loses at most the records of this time plus one sync, or this many records. */
const SYNC_DELAY_MS = 15;
const SYNC_RECORDS = 256;
const RECOVERY_INTERVAL_MS = 250;
const SCRATCH_BYTES = 256 * 1024;
const NO_HEADER = Buffer.alloc(0);

/** A finished call on its way into the spool. */
export interface Spooled {
  readonly record: UsageRecord;
  /** The intent that this event completes. */
  readonly opened: OpenIntent | undefined;
  /** Called right after write(2): with the segment that holds the event, or with the disk's error. */
  written(error: Error | undefined, segment: number): void;
}

export interface SpoolOptions {
  /** This process's folder; must exist. */
  folder: string;
  log: Logger;
  disk: SpoolDisk;
  onSync(durationMs: number): void;
  /** The sync of a segment failed: append its uncommitted events again. */
  onDoubtful(segment: number): void;
  /** The disk is writable again. */
  onRecover(): void;
}

/** The append-only log of one process's calls, in segments of a few megabytes. */
export class Spool {
  private current: Segment | undefined;
  /** Oldest first; the current one is the last. */
  private readonly segments: Segment[] = [];
  private readonly open = new SlotSet<CallIntent>();
  /** Appended in this turn of the event loop: payloads, and for each the finished call, if any. */
  private payloads: string[] = [];
  private spooled: (Spooled | undefined)[] = [];
  private scheduled = false;
  private scratch = Buffer.allocUnsafe(SCRATCH_BYTES);
  private nextNumber = 1;
  private unsynced = 0;
  private syncTimer: NodeJS.Timeout | undefined;
  private syncing: Promise<void> | undefined;
  private recovery: NodeJS.Timeout | undefined;
  private lastError: Error | undefined;
  private syncFailed = false;
  private closed = false;

  constructor(private readonly options: SpoolOptions) {
    this.tryOpen();
  }

  /** Whether the disk refused the last write. */
  failing(): boolean {
    return this.current === undefined;
  }

  /** Whether the disk refused the last write or the last sync. */
  degraded(): boolean {
    return this.failing() || this.syncFailed;
  }

  /** Appends an intent to this turn's write. */
  begin(intent: CallIntent): OpenIntent {
    this.append(intentPayload(intent), undefined);
    return { intent, slot: this.open.add(intent) };
  }

  /** Appends a finished call to this turn's write. */
  finish(spooled: Spooled): void {
    this.append(eventPayload(spooled.record), spooled);
  }

  /** Closes the intent of a call that was committed without being in the spool. */
  forget(opened: OpenIntent | undefined): void {
    if (opened) this.open.delete(opened.slot, opened.intent);
  }

  /** Counts one event of a segment as committed. The segment is removed once all of its events are. */
  settle(number: number): void {
    const segment = this.segments.find((candidate) => candidate.number === number);
    if (segment && --segment.uncommitted === 0) this.sweep();
  }

  /** Starts a new segment, so that the earlier ones are complete. @returns The number of the current one. */
  rotate(): number | undefined {
    this.writeTurn();
    const former = this.current;
    if (former && this.tryOpen()) this.seal(former);
    return this.current?.number;
  }

  pathOf(number: number): string {
    return join(this.options.folder, segmentName(number));
  }

  /** Writes and closes everything. @returns Whether a successor has nothing to replay. */
  async close(): Promise<boolean> {
    this.writeTurn();
    this.closed = true;
    clearTimeout(this.syncTimer);
    clearTimeout(this.recovery);
    await this.syncing;
    if (this.current && this.unsynced > 0) await this.sync(this.current);
    await this.current?.close();
    return this.open.size === 0 && this.segments.every((segment) => segment.uncommitted === 0);
  }

  private append(payload: string, spooled: Spooled | undefined): void {
    this.payloads.push(payload);
    this.spooled.push(spooled);
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => this.writeTurn());
  }

  /** ONE write for everything appended in this turn of the event loop, then the callbacks. */
  private writeTurn(): void {
    this.scheduled = false;
    const { payloads, spooled } = this;
    if (payloads.length === 0) return;
    this.payloads = [];
    this.spooled = [];
    if (this.current && this.isFull(this.current)) this.rotate();
    const segment = this.closed ? undefined : this.current;
    if (segment && this.write(segment, payloads)) this.answer(spooled, undefined, segment);
    else this.answer(spooled, this.lastError ?? new Error('the spool is closed'));
  }

  private write(segment: Segment, payloads: string[]): boolean {
    try {
      segment.append(this.encode(payloads, NO_HEADER));
    } catch (error) {
      this.fail(error);
      return false;
    }
    this.markDirty(payloads.length);
    return true;
  }

  private answer(spooled: (Spooled | undefined)[], error: Error | undefined, segment?: Segment): void {
    for (const call of spooled) {
      if (!segment || !call) continue;
      this.forget(call.opened);
      segment.uncommitted++;
    }
    for (const call of spooled) {
      try {
        call?.written(error, segment?.number ?? 0);
      } catch (thrown) {
        this.options.log.error({ err: thrown }, 'a spool callback failed');
      }
    }
  }

  private isFull(segment: Segment): boolean {
    if (segment.bytes >= MAX_SEGMENT_BYTES) return true;
    const hasContent = segment.bytes > segmentHeader().length;
    return hasContent && performance.now() - segment.openedAt >= MAX_SEGMENT_AGE_MS;
  }

  /** Encodes payloads into the scratch buffer, which is valid until the next call. */
  private encode(payloads: string[], header: Buffer): Buffer {
    const bound = payloads.reduce((sum, payload) => sum + frameBound(payload), header.length);
    if (bound > this.scratch.length) this.scratch = Buffer.allocUnsafe(bound);
    let offset = header.copy(this.scratch);
    for (const payload of payloads) offset = writeFrame(this.scratch, offset, payload);
    return this.scratch.subarray(0, offset);
  }

  /** Opens the next segment and carries the open intents forward, so that older segments can be removed. */
  private tryOpen(): boolean {
    let segment: Segment | undefined;
    try {
      const number = this.nextNumber++;
      segment = new Segment(number, this.pathOf(number), performance.now(), this.options.disk);
      const carried = [...this.open].map(intentPayload);
      segment.append(this.encode(carried, segmentHeader()));
    } catch (error) {
      if (segment) rmSync(segment.path, { force: true });
      segment?.close().catch(() => undefined);
      this.fail(error);
      return false;
    }
    this.current = segment;
    this.segments.push(segment);
    this.markDirty(1);
    this.syncFolder();
    return true;
  }

  private fail(error: unknown): void {
    const cause = error instanceof Error ? error : new Error(String(error));
    if (this.lastError === undefined) {
      this.options.log.error(
        { err: cause },
        "can't write the spool: check its volume, and whether it is full",
      );
    }
    this.lastError = cause;
    if (this.current) this.seal(this.current);
    this.current = undefined;
    if (this.closed || this.recovery) return;
    this.recovery = setTimeout(() => this.recover(), RECOVERY_INTERVAL_MS).unref();
  }

  private recover(): void {
    this.recovery = undefined;
    if (this.closed || !this.tryOpen()) return;
    this.lastError = undefined;
    this.options.log.info('the spool is writable again');
    this.options.onRecover();
  }

  private seal(segment: Segment): void {
    segment.sealed = true;
    this.sync(segment)
      .then(() => segment.close())
      .then(() => this.sweep())
      .catch((error: unknown) => this.options.log.error({ err: error }, 'failed to close a spool segment'));
  }

  private markDirty(records: number): void {
    this.unsynced += records;
    if (this.syncing) return;
    if (this.unsynced >= SYNC_RECORDS) this.startSync();
    else this.syncTimer ??= setTimeout(() => this.startSync(), SYNC_DELAY_MS).unref();
  }

  private startSync(): void {
    clearTimeout(this.syncTimer);
    this.syncTimer = undefined;
    const segment = this.current;
    if (!segment || this.syncing || this.closed) return;
    this.unsynced = 0;
    this.syncing = this.sync(segment).finally(() => {
      this.syncing = undefined;
      if (this.unsynced > 0 && !this.closed) this.markDirty(0);
    });
  }

  /** After a failed sync, the kernel may have dropped the pages: the file isn't synced again, and its events are re-appended. */
  private async sync(segment: Segment): Promise<void> {
    const start = performance.now();
    try {
      await segment.sync();
      this.syncFailed = false;
      this.options.onSync(performance.now() - start);
      this.sweep();
    } catch (error) {
      this.syncFailed = true;
      this.options.log.error({ err: error, path: segment.path }, 'fdatasync of a spool segment failed');
      if (segment === this.current && !this.closed) {
        segment.sealed = true;
        this.current = undefined;
        this.tryOpen();
        await segment.close();
      }
      if (!this.closed) this.options.onDoubtful(segment.number);
    }
  }

  private syncFolder(): void {
    const warn = (error: Error | null): void => {
      if (error) this.options.log.warn({ err: error }, 'fsync of the spool folder failed');
    };
    open(this.options.folder, 'r', (error, fd) => {
      if (error) warn(error);
      else fsync(fd, (failure) => close(fd, () => warn(failure)));
    });
  }

  /** Removes sealed and committed segments, oldest first, so that an intent never outlives its event. */
  private sweep(): void {
    for (;;) {
      const [first, second] = this.segments;
      if (!first?.sealed || first.uncommitted > 0 || !second?.synced) return;
      this.segments.shift();
      first.close().then(
        () => first.remove(),
        () => undefined,
      );
    }
  }
}
