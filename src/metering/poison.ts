import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { POISON_FOLDER } from './orphans.js';
import type { UsageRecord } from './usage-record.js';

/**
 * Sets an event that the database refuses aside as a JSON line, on the disk before this resolves, for a person to
 * look at: `{ reason, record }` with amounts as strings of 1e-12 dollars.
 * @throws Error of the disk.
 */
export async function setPoisonAside(
  directory: string,
  name: string,
  record: UsageRecord,
  reason: string,
): Promise<string> {
  const folder = join(directory, POISON_FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${name}.jsonl`);
  const file = await open(path, 'a', 0o600);
  try {
    const line = JSON.stringify({ reason, record }, (_key, value) =>
      typeof value === 'bigint' ? value.toString() : value,
    );
    await file.write(`${line}\n`);
    await file.datasync();
  } finally {
    await file.close();
  }
  return path;
}
