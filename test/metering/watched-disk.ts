import { realDisk, type SpoolDisk } from '../../src/metering/segment.js';

/** What a power cut could have lost at one moment. */
export interface Exposure {
  records: number;
  /** Age of the oldest record that no sync has covered. */
  oldestMs: number;
}

export interface WatchedDisk {
  disk: SpoolDisk;
  /** Call it for each record that is appended. */
  appended(): void;
  /** The worst moment of each sync: just before it was done. */
  readonly exposures: Exposure[];
}

interface Unsynced {
  records: number;
  writtenAt: number;
}

/** A disk that tracks what is in the page cache only: the bytes of each file written since its last sync began. */
export function watchDisk(disk: SpoolDisk = realDisk, now = () => performance.now()): WatchedDisk {
  const files = new Map<number, Unsynced[]>();
  const exposures: Exposure[] = [];
  let appended = 0;
  const exposure = (): Exposure => {
    const all = [...files.values()].flat();
    const oldest = Math.min(...all.map(({ writtenAt }) => writtenAt));
    const records = all.reduce((sum, one) => sum + one.records, 0);
    return { records, oldestMs: all.length === 0 ? 0 : now() - oldest };
  };
  return {
    appended: () => appended++,
    exposures,
    disk: {
      write(fd, bytes, offset, length) {
        const written = disk.write(fd, bytes, offset, length);
        const entry = { records: appended, writtenAt: now() };
        appended = 0;
        const waiting = files.get(fd);
        if (waiting) waiting.push(entry);
        else files.set(fd, [entry]);
        return written;
      },
      async sync(fd) {
        const covered = files.get(fd)?.length ?? 0;
        await disk.sync(fd);
        exposures.push(exposure());
        const left = files.get(fd)?.slice(covered) ?? [];
        if (left.length > 0) files.set(fd, left);
        else files.delete(fd);
      },
    },
  };
}

/** Goal G2: a power cut loses only records younger than 25 ms, or at most 256 records. */
export const beyondBounds = ({ records, oldestMs }: Exposure): boolean => oldestMs > 25 && records > 256;
