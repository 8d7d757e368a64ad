import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';

/** PostgreSQL refuses to run as root; this user exists on every Unix. */
export const NOBODY = 65_534;
/** Where to put files that the server's user can't reach at their usual place. */
const SYSTEM_FOLDER = '/var/lib/inference-gateway';
const OTHERS_MAY_ENTER = 0o001;

export const isRoot = (): boolean => process.getuid?.() === 0;

/** The user that runs the server's programs. */
export const serverIdentity = (): { uid?: number; gid?: number } =>
  isRoot() ? { uid: NOBODY, gid: NOBODY } : {};

/** The environment of the server's programs, without secrets. */
export const SERVER_ENVIRONMENT = { LC_ALL: 'C', PATH: '/usr/bin:/bin', TZ: 'UTC' };

/** Returns the deepest folder on a path that the server's user can't enter; undefined if it can enter all of them. */
export function closedFolder(path: string): string | undefined {
  if (!isRoot()) return undefined;
  for (let folder = resolve(path); folder !== dirname(folder); folder = dirname(folder)) {
    if (!existsSync(folder)) continue;
    const { mode, uid } = statSync(folder);
    if ((mode & OTHERS_MAY_ENTER) === 0 && uid !== NOBODY) return folder;
  }
  return undefined;
}

function systemFolder(name: string, systemRoot: string): string {
  const path = join(systemRoot, name);
  mkdirSync(path, { recursive: true, mode: 0o755 });
  const closed = closedFolder(path);
  if (closed) {
    throw new Error(
      `PostgreSQL does not run as root, and its unprivileged user can't enter ${closed}: move the checkout or DATA_DIR elsewhere, or chmod o+x ${closed}`,
    );
  }
  return path;
}

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

/** Copies a folder and the targets of its links, which may be in the closed folder (fs.cpSync keeps inner links). */
function copyFolder(from: string, to: string): void {
  mkdirSync(to, { mode: 0o755 });
  for (const name of readdirSync(from)) {
    const [source, target] = [join(from, name), join(to, name)];
    if (statSync(source).isDirectory()) copyFolder(source, target);
    else copyFileSync(source, target);
  }
}

/**
 * Returns a folder from which the server's user can run the binaries: `native`, or a copy of it. A checkout in root's home
 * is closed to other users.
 */
export function reachableBinaries(native: string, version: string, systemRoot = SYSTEM_FOLDER): string {
  // It is enough to check the binary, the deepest file.
  if (!closedFolder(join(native, 'bin', 'postgres'))) return native;
  const copy = join(systemFolder('binaries', systemRoot), version);
  if (!existsSync(copy)) {
    const draft = `${copy}.${process.pid}`;
    copyFolder(native, draft);
    try {
      renameSync(draft, copy);
    } catch (error) {
      rmSync(draft, { recursive: true });
      // Another start may have made the copy first.
      if (!existsSync(copy)) throw error;
    }
  }
  return copy;
}

/** @throws Error if this user can't see whether a cluster exists, so that an unreadable one doesn't count as missing */
function isCluster(path: string): boolean {
  try {
    statSync(join(path, 'PG_VERSION'));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw new Error(
      `this user can't read the database in ${path} (${code}): run this as the user who started the product before, such as root`,
    );
  }
}

/** The target of a link; undefined for any other path. */
export function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Name of this DATA_DIR's folder below the system folder. */
const folderOf = (directory: string): string => `data-${shortHash(directory)}`;

/**
 * Returns the path at which the server's user can reach the cluster: `directory`, also if it is the operator's own link, or a
 * system folder for this DATA_DIR, to which `linkCluster` makes a link.
 * @throws Error if the database of this DATA_DIR is elsewhere or gone, rather than start with an empty one
 */
export function reachableCluster(directory: string, systemRoot = SYSTEM_FOLDER): string {
  const linked = linkTarget(directory);
  if (linked !== undefined) {
    return linkedCluster(directory, resolve(realpathSync(dirname(directory)), linked), systemRoot);
  }
  const closed = closedFolder(dirname(directory));
  // The cluster's own folder (0700) belongs to the server's user.
  if (!closed) return directory;
  const outside = join(systemFolder(folderOf(directory), systemRoot), 'postgres');
  if (!isCluster(directory)) return outside;
  throw new Error(
    isCluster(outside)
      ? `there are two databases, in ${directory} and in ${outside}: move away the one that is not to be used`
      : `PostgreSQL's unprivileged user can't enter ${closed}, where its data is: chmod o+x ${closed}, or move ${directory} to ${outside}`,
  );
}

function linkedCluster(directory: string, place: string, systemRoot: string): string {
  const closed = closedFolder(dirname(directory));
  const isOurs = place.startsWith(join(systemRoot, sep));
  if (isOurs) {
    const outside = join(systemRoot, folderOf(directory), 'postgres');
    // The folder has to exist before a database is copied or restored into it.
    if (isRoot()) systemFolder(folderOf(directory), systemRoot);
    if (place !== outside) {
      throw new Error(
        `${directory} is a link to ${place}, the database of another DATA_DIR: remove the link, and copy that folder with cp -a to ${closed ? outside : directory}`,
      );
    }
  }
  if (!isCluster(place)) {
    throw new Error(
      `the database of ${dirname(directory)} is missing: restore ${place}, or remove the link ${directory} to start with an empty one`,
    );
  }
  if (isOurs) return place;
  const shut = closed ?? closedFolder(dirname(realpathSync(place)));
  if (shut) {
    throw new Error(
      `PostgreSQL's unprivileged user can't enter ${shut}, which is on the way to ${place} by the link ${directory}: chmod o+x ${shut}`,
    );
  }
  return directory;
}

/** Links to a cluster outside of DATA_DIR, so that also a copy of DATA_DIR shows where the cluster is. */
export function linkCluster(directory: string, place: string): void {
  if (place !== directory && !existsSync(directory)) symlinkSync(place, directory);
}
