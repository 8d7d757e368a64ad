import { join } from 'node:path';
import { systemClock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { Handed } from './hand-over.js';
import { adoptedFolders, adoptOrphans, formerOwners, type Heartbeats } from './orphans.js';
import type { Owner } from './owner.js';
import { commitRecorded, replayFolder } from './replay.js';
import type { UsageRecord } from './usage-record.js';

const INTERVAL_MS = 5_000;
/** A heartbeat is missing: at a start, what the folder's owner has recorded is not left to it. */
const SILENT_MS = 15_000;

export interface AdoptionOptions {
  directory: string;
  /** This process's folder. */
  own: string;
  self: Owner;
  log: Logger;
  /** Whether no process may admit calls that this one can't look up. */
  alone: boolean;
  intervalMs?: number | undefined;
  /** @param borrowed Of a process that may live, or be another installation's. */
  commit(records: UsageRecord[], borrowed?: boolean): Promise<Handed>;
  /** The spools of these processes are here, and perhaps not committed yet. Said every few seconds, however long that takes. */
  onFound(owners: string[]): void;
  /** Everything of these processes is committed, or waits and counts in this process. */
  onHandedOver(owners: string[]): void;
  /** Everything of a folder is committed. */
  onReplayed(events: number): void;
}

/** Looks for spools of dead processes, at start and every few seconds, and replays them one after another. */
export class Adoption {
  /** Adopted folders whose replay is under way, or whose last events wait for accounts that are locked. */
  private readonly waiting = new Map<string, Promise<void>>();
  /** Of processes that can't be looked up. */
  private heartbeats: Heartbeats = new Map();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private stopped = false;

  constructor(private readonly options: AdoptionOptions) {}

  /** Resolves when what was found is handed over. */
  async start(): Promise<void> {
    this.timer = setInterval(() => {
      void this.tellFound();
      void this.look();
    }, this.options.intervalMs ?? INTERVAL_MS).unref();
    await this.look();
    await this.commitOthers();
  }

  /** Call it once `commit` rejects, so that a replay under way ends. @returns Whether every folder is replayed. */
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

  /** Apart from the looks: one lasts for as long as the database takes nothing. */
  private async tellFound(): Promise<void> {
    try {
      const folders = await adoptedFolders(this.options.own);
      // One that was replayed meanwhile is gone.
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
      // Before the folders are read: one that is removed in this moment may still be among them.
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
   * Whether an owner that can't be looked up is gone shows after a minute only; balances must contain what it has recorded
   * before. Its finished calls are committed, which is right if it lives, too. Beside others that share the limits only
   * those of a silent one: the others count what it has recorded lately.
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
    // It may have found one of them to be an orphan meanwhile.
    await this.running;
  }

  /** Resolves when everything in a folder is committed, or waits for nothing but locked accounts: the next one begins. */
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
