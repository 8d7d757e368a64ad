import { realDisk, type SpoolDisk } from '../../src/metering/segment.js';

/** A disk that fails like a full volume: writes some bytes, then none. */
export function fillableDisk(): SpoolDisk & {
  full: boolean;
  code: string;
  syncFails: number;
  syncs: number;
} {
  const disk = {
    full: false,
    code: 'ENOSPC',
    syncFails: 0,
    syncs: 0,
    write(fd: number, bytes: Buffer, offset: number, length: number): number {
      if (!disk.full) return realDisk.write(fd, bytes, offset, length);
      if (offset === 0 && length > 20) return realDisk.write(fd, bytes, offset, 20);
      throw Object.assign(new Error(`${disk.code}: write`), { code: disk.code });
    },
    sync(fd: number): Promise<void> {
      disk.syncs++;
      if (disk.syncFails === 0) return realDisk.sync(fd);
      disk.syncFails--;
      return Promise.reject(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }));
    },
  };
  return disk;
}
