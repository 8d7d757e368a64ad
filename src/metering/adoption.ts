import { join } from 'node:path';
import { systemClock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { Handed } from './hand-over.js';
import { adoptedFolders, adoptOrphans, formerOwners, type Heartbeats } from './orphans.js';
import type { Owner } from './owner.js';
import { commitRecorded, replayFolder } from './replay.js';
import type { UsageRecord } from './usage-record.js';

const INTERVAL_MS = 5_000;
/** At a start, an owner whose heartbeat is older than this is no longer trusted to commit its own events. */
const SILENT_MS = 15_000;

export interface AdoptionOptions {
  directory: string;
  /** This process's folder. */
  own: string;
  self: Owner;
  log: Logger;
  /** Whether every process that may admit calls runs where this one can look it up. */
  alone: boolean;
  intervalMs?: number | undefined;
  /** @param borrowed Whether the process that recorded them may be alive, or belong to another installation. */
  commit(records: UsageRecord[], borrowed?: boolean): Promise<Handed>;
  /** Names the dead processes whose spools are adopted and may not be committed yet. Called every few seconds until they are. */
  onFound(owners: string[]): void;
  /** Every event of these processes is committed, or waits and counts in this process. */
  onHandedOver(owners: string[]): void;
  /** Every event of a folder is committed. */
  onReplayed(events: number): void;
}

/** Adopts the spools of dead processes, at the start and every few seconds, and replays them one after another. */
export class Adoption {
  /** Adopted folders whose replay is under way, or whose last events wait for accounts that are locked. */
  private readonly waiting = new Map<string, Promise<void>>();
  /** Heartbeats of the processes that can't be looked up. */
  private heartbeats: Heartbeats = new Map();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private stopped = false;

  constructor(private readonly options: AdoptionOptions) {}

  /** Resolves once every event found is committed, or waits and counts in this process. */
  async start(): Promise<void> {
    this.timer = setInterval(() => {
      void this.reportFound();
      void this.look();
    }, this.options.intervalMs ?? INTERVAL_MS).unref();
    await this.look();
    await this.commitOthers();
  }

  /** Waits for a replay under way, which ends once `commit` rejects. @returns Whether every folder is replayed. */
  async stop(): Promise<boolean> {
    this.stopped = true;
    clearInterval(this.timer);
    await this.running;
    await Promise.all(this.waiting.values());
    try {
      return (await adoptedFolders(this.options.own)).length === 0;
    } catch (error) {
      this.options.log.error({ err: error }, 'failed to read the own spool folder; it is kept');
      return false;
    }
  }

  private look(): Promise<void> {
    this.running ??= this.run().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  /** Runs beside `look`, which takes as long as the database is unavailable. */
  private async reportFound(): Promise<void> {
    try {
      const folders = await adoptedFolders(this.options.own);
      // A folder may have been replayed and removed meanwhile.
      const owners = await Promise.all(folders.map((folder) => formerOwners(folder).catch(() => [])));
      if (folders.length > 0) this.options.onFound(owners.flat());
    } catch {
      // The next look reports the error.
    }
  }

  private async run(): Promise<void> {
    const { directory, own, self } = this.options;
    try {
      const failed = (error: unknown): void => this.failed(error);
      this.heartbeats = await adoptOrphans(directory, own, self, this.heartbeats, failed);
      // Copied before the folders are read: a folder removed in between may still be listed.
      const waiting = new Set(this.waiting.keys());
      for (const folder of await adoptedFolders(own)) {
        if (this.stopped) return;
        if (!waiting.has(folder)) await this.replay(folder).catch((error: unknown) => this.failed(error));
      }
    } catch (error) {
      this.failed(error);
    }
  }

  /**
   * It takes a minute to see that an owner that can't be looked up is gone, but balances must contain its events from the
   * start. So its finished calls are committed now, which is harmless if it lives. When other edges share the limits, this
   * is done for silent owners only: the other edges still count the recent events of the rest.
   */
  private async commitOthers(): Promise<void> {
    const { directory, alone, commit } = this.options;
    const now = systemClock.now();
    for (const [name, { at }] of this.heartbeats) {
      if (!alone && now - at < SILENT_MS) continue;
      await commitRecorded(join(directory, name), (records) => commit(records, true)).catch(
        (error: unknown) => this.failed(error),
      );
    }
    // A look may have adopted one of these folders meanwhile.
    await this.running;
  }

  /** Resolves when every event of a folder is committed or waits for a locked account, so that the next folder can begin. */
  private async replay(folder: string): Promise<void> {
    const { directory, log, commit, onHandedOver, onReplayed } = this.options;
    const owners = await formerOwners(folder);
    const { events, waits, settled } = await replayFolder(folder, { directory, log, commit });
    onHandedOver(owners);
    const over = settled
      .then(() => {
        onReplayed(events);
        log.info({ events }, 'replayed the spool of a process that has exited');
      })
      .catch((error: unknown) => this.failed(error))
      .finally(() => this.waiting.delete(folder));
    this.waiting.set(folder, over);
    if (!waits) await over;
  }

  private failed(error: unknown): void {
    if (!this.stopped) this.options.log.error({ err: error }, 'failed to adopt spools; will retry');
  }
}
