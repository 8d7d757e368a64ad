import { chmodSync, mkdtempSync, readFileSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** Databases, clusters and browser profiles of a run never take more than 2 GiB at a time. */
const NEEDED_BYTES = 4 * 2 ** 30;

/**
 * Creates the folder of a run, which its teardown removes. It is in memory if the machine has enough, because creating
 * and dropping a database takes a third of the processor time there, and no data has to survive.
 */
export function makeScratch(): string {
  const path = mkdtempSync(join(memoryIsRoomy() ? MEMORY : tmpdir(), 'gateway-test-'));
  // As root, the embedded database runs as another user.
  chmodSync(path, 0o755);
  return path;
}

function memoryIsRoomy(): boolean {
  try {
    // Containers often mount it as noexec, but the tests' images contain programs.
    const options = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .find(([, path]) => path === MEMORY)?.[3];
    if (options === undefined || options.split(',').includes('noexec')) return false;
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= NEEDED_BYTES && freemem() >= 2 * NEEDED_BYTES;
  } catch {
    return false;
  }
}
