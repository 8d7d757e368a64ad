import { chmodSync, mkdirSync } from 'node:fs';

/**
 * Makes DATA_DIR unless it is there. Others may walk through but not look: as root the embedded database runs as
 * an unprivileged user. What is secret lies in a folder of its own.
 */
export function ensureDataDir(path: string): void {
  if (mkdirSync(path, { recursive: true }) !== undefined) chmodSync(path, 0o711);
}
