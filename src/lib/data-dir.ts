import { chmodSync, mkdirSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Makes DATA_DIR unless it is there. Others may walk through but not look: as root the embedded database runs as
 * an unprivileged user. What is secret lies in a folder of its own.
 */
export function ensureDataDir(path: string): void {
  if (makeFolders(path)) chmodSync(path, 0o711);
}

/** Node's own recursive mkdir never returns where nobody may make a folder, such as below /proc. */
function makeFolders(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
  const parent = dirname(path);
  if (parent !== path) makeFolders(parent);
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    // Another process was quicker.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
    throw error;
  }
}

/**
 * Makes DATA_DIR unless it is there, and tries whether something can be made in it.
 * @throws Error of the system, for `dataDirFault`.
 */
export function checkDataDir(path: string): void {
  ensureDataDir(path);
  rmdirSync(mkdtempSync(join(path, '.check-')));
}

const REASONS: Record<string, string> = {
  EEXIST: 'it, or part of its path, is a file',
  ENOTDIR: 'it, or part of its path, is a file',
  ENOENT: "the system doesn't allow creating it",
  EACCES: "this user can't write there",
  EPERM: "this user can't write there",
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** Why a data folder can't be used, in plain words. */
export function dataDirFault(path: string, error: unknown): string {
  const { code = 'unknown error', path: where = path } = error as NodeJS.ErrnoException;
  const reason = REASONS[code];
  const inside = where.startsWith(`${path}/`) && !where.includes('/.check-') ? ` at ${where}` : '';
  return `${path} can't be used: ${reason ? `${reason} (${code}${inside})` : `${code}${inside}`}`;
}
