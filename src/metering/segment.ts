import { close, fdatasync, ftruncateSync, openSync, unlink, writeSync } from 'node:fs';
import { promisify } from 'node:util';

/** The disk operations that can fail on a full or failing volume; tests pass their own. */
export interface SpoolDisk {
  /** Bytes written, possibly fewer than asked for. */
  write(fd: number, bytes: Buffer, offset: number, length: number): number;
  sync(fd: number): Promise<void>;
}

export const realDisk: SpoolDisk = {
  write: (fd, bytes, offset, length) => writeSync(fd, bytes, offset, length),
  sync: promisify(fdatasync),
};

const closeFile = promisify(close);
const unlinkFile = promisify(unlink);

/** One append-only file of a spool. It holds whole records only, unless the process dies while it writes. */
export class Segment {
  /** Bytes of whole records and header. */
  bytes = 0;
  /** Finished events in it that aren't committed yet. */
  uncommitted = 0;
  /** Whether a sync has succeeded since it was opened; what it carried forward is then safe. */
  synced = false;
  /** Whether it is closed for appending. */
  sealed = false;
  private readonly fd: number;
  private syncing: Promise<void> | undefined;
  private closing: Promise<void> | undefined;

  /** @throws Error when the file can't be created or exists. */
  constructor(
    readonly number: number,
    readonly path: string,
    readonly openedAt: number,
    private readonly disk: SpoolDisk,
  ) {
    this.fd = openSync(path, 'ax', 0o600);
  }

  /**
   * Appends whole records: all of them or, cut back to the last whole record, none.
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

  /** A tail that can't be truncated is skipped by the reader, since nothing is appended after it. */
  private cutTail(): void {
    try {
      ftruncateSync(this.fd, this.bytes);
    } catch {
      // The segment is sealed by the caller; its torn tail fails the checksum.
    }
  }

  /** Brings everything appended so far to the disk. One at a time. */
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

  /** Closes the file once no sync is under way. Again: the same closing, since the descriptor may be another's. */
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
