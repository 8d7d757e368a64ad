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
/** Where things go that the database's user can't reach where they are. */
const SYSTEM_FOLDER = '/var/lib/inference-gateway';
const OTHERS_MAY_ENTER = 0o001;

export const isRoot = (): boolean => process.getuid?.() === 0;

/** As whom the server's programs run. */
export const serverIdentity = (): { uid?: number; gid?: number } =>
  isRoot() ? { uid: NOBODY, gid: NOBODY } : {};

/** All that the server's programs see of the environment: secrets aren't theirs. */
export const SERVER_ENVIRONMENT = { LC_ALL: 'C', PATH: '/usr/bin:/bin', TZ: 'UTC' };

/** The first folder on the way to a path that the database's user can't enter; undefined when there is none. */
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

/** Copies what links mean, since they may lead back into the closed folder (fs.cpSync keeps inner links as links). */
function copyFolder(from: string, to: string): void {
  mkdirSync(to, { mode: 0o755 });
  for (const name of readdirSync(from)) {
    const [source, target] = [join(from, name), join(to, name)];
    if (statSync(source).isDirectory()) copyFolder(source, target);
    else copyFileSync(source, target);
  }
}

/**
 * The folder of the server's binaries where its user can run them: itself, or a copy. A checkout in root's own home
 * is closed to everybody else.
 */
export function reachableBinaries(native: string, version: string, systemRoot = SYSTEM_FOLDER): string {
  // The binary stands for all: it lies deepest.
  if (!closedFolder(join(native, 'bin', 'postgres'))) return native;
  const copy = join(systemFolder('binaries', systemRoot), version);
  if (!existsSync(copy)) {
    const draft = `${copy}.${process.pid}`;
    copyFolder(native, draft);
    try {
      renameSync(draft, copy);
    } catch (error) {
      rmSync(draft, { recursive: true });
      // Another start was quicker.
      if (!existsSync(copy)) throw error;
    }
  }
  return copy;
}

/** @throws Error when this user can't see whether a cluster is there: it isn't missing then */
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

/** Where a link leads; undefined when there is none. */
export function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** The name of the folder below the system's for the cluster of this DATA_DIR. */
const folderOf = (directory: string): string => `data-${shortHash(directory)}`;

/**
 * The folder of the cluster where the server's user can reach it: itself, also behind a link of the operator's own, or one of its
 * own for this DATA_DIR, to which `linkCluster` leaves a link.
 * @throws Error when the database of this DATA_DIR lies elsewhere or is gone: it would begin again with an empty one
 */
export function reachableCluster(directory: string, systemRoot = SYSTEM_FOLDER): string {
  const linked = linkTarget(directory);
  if (linked !== undefined) {
    return linkedCluster(directory, resolve(realpathSync(dirname(directory)), linked), systemRoot);
  }
  const closed = closedFolder(dirname(directory));
  // Its own 0700 folder, once it is there, belongs to the server's user.
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

/** Leaves a link in the place of a cluster that lies elsewhere: it says where, also in a copy of DATA_DIR. */
export function linkCluster(directory: string, place: string): void {
  if (place !== directory && !existsSync(directory)) symlinkSync(place, directory);
}
