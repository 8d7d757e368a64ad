import { chmodSync, mkdirSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Creates DATA_DIR if it is missing. Other users may traverse but not list it: under root, the embedded database runs as an
 * unprivileged user. Secrets are in a folder of their own.
 */
export function ensureDataDir(path: string): void {
  if (makeFolders(path)) chmodSync(path, 0o711);
}

/** Node's own recursive mkdir never returns where no folder can be created, such as below /proc. */
function makeFolders(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
  const parent = dirname(path);
  if (parent !== path) makeFolders(parent);
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    // Another process created it meanwhile.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
    throw error;
  }
}

/**
 * Creates DATA_DIR if it is missing, and checks that it is writable.
 * @throws the system's error; `dataDirFault` explains it.
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
