import { close, fdatasync, ftruncateSync, openSync, unlink, writeSync } from 'node:fs';
import { promisify } from 'node:util';

/** The disk operations that can fail on a full or failing volume; tests pass their own. */
export interface SpoolDisk {
  /** @returns Bytes written, possibly fewer than `length`. */
  write(fd: number, bytes: Buffer, offset: number, length: number): number;
  sync(fd: number): Promise<void>;
}

export const realDisk: SpoolDisk = {
  write: (fd, bytes, offset, length) => writeSync(fd, bytes, offset, length),
  sync: promisify(fdatasync),
};

const closeFile = promisify(close);
const unlinkFile = promisify(unlink);

/** One append-only file of a spool. Holds whole records only, unless the process dies during a write. */
export class Segment {
  /** Bytes of header and whole records. */
  bytes = 0;
  /** Number of events not yet committed. */
  uncommitted = 0;
  /** Whether a sync has succeeded; the open intents carried forward are then safe. */
  synced = false;
  /** Whether it is closed for appending. */
  sealed = false;
  private readonly fd: number;
  private syncing: Promise<void> | undefined;
  private closing: Promise<void> | undefined;

  /** @throws Error if the file exists or can't be created. */
  constructor(
    readonly number: number,
    readonly path: string,
    readonly openedAt: number,
    private readonly disk: SpoolDisk,
  ) {
    this.fd = openSync(path, 'ax', 0o600);
  }

  /**
   * Appends all of the records or none: after an error, the file is truncated to its former size.
   * @throws Error of the disk, such as ENOSPC, EFBIG or EIO.
   */
  append(records: Buffer): void {
    try {
      for (let done = 0; done < records.length; ) {
        const written = this.disk.write(this.fd, records, done, records.length - done);
        if (written <= 0) throw new Error('the disk accepted no data for the spool');
        done += written;
      }
    } catch (error) {
      this.cutTail();
      throw error;
    }
    this.bytes += records.length;
  }

  private cutTail(): void {
    try {
      ftruncateSync(this.fd, this.bytes);
    } catch {
      // The caller seals the segment, and readers skip a torn tail by its checksum.
    }
  }

  /** Syncs everything appended so far to the disk. One sync runs at a time. */
  async sync(): Promise<void> {
    while (this.syncing) await this.syncing.catch(() => undefined);
    if (this.closing) return;
    this.syncing = this.disk.sync(this.fd);
    try {
      await this.syncing;
      this.synced = true;
    } finally {
      this.syncing = undefined;
    }
  }

  /** Closes the file after a sync under way. Closes it only once: the descriptor may be reused for another file. */
  close(): Promise<void> {
    this.sealed = true;
    this.closing ??= (async () => {
      await this.syncing?.catch(() => undefined);
      await closeFile(this.fd).catch(() => undefined);
    })();
    return this.closing;
  }

  async remove(): Promise<void> {
    await unlinkFile(this.path).catch(() => undefined);
  }
}
