import { chmodSync, mkdtempSync, readFileSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** The databases of a run, its clusters and browser profiles take less than 2 GiB at any one time. */
const NEEDED_BYTES = 4 * 2 ** 30;

/**
 * Makes the folder that a run writes to, which its teardown removes. It lies in memory where the machine has enough: making
 * and dropping a database takes a third of the processor time there, and nothing of it has to outlive the machine.
 */
export function makeScratch(): string {
  const path = mkdtempSync(join(memoryIsRoomy() ? MEMORY : tmpdir(), 'gateway-test-'));
  // The embedded database runs as another user when we are root.
  chmodSync(path, 0o755);
  return path;
}

function memoryIsRoomy(): boolean {
  try {
    // Containers often mount it so that no program of it runs; images of the tests' own hold programs.
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
