import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureDataDir } from './data-dir.js';

/**
 * A development secret that is generated once and kept in `DATA_DIR/secrets/<name>`, mode 0600. Processes that start at the same
 * time agree on one value: the first hard link wins, and the others read its file.
 */
export function generatedSecret(dataDir: string, name: string): string {
  const directory = join(dataDir, 'secrets');
  const path = join(directory, name);
  const read = (): string | undefined => {
    try {
      return readFileSync(path, 'utf8').trim();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  };
  const existing = read();
  if (existing !== undefined) return existing;
  ensureDataDir(dataDir);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return read()!;
}

/** Whether this secret was generated in the DATA_DIR before. */
export const hasGeneratedSecret = (dataDir: string, name: string): boolean =>
  existsSync(join(dataDir, 'secrets', name));
