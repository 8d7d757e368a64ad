import { spawn } from 'node:child_process';
import {
  chownSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isRoot, NOBODY, SERVER_ENVIRONMENT, serverIdentity } from './reachable.js';

const STDERR_KEPT = 2_000;
/** An initdb of a killed launcher may still be writing to the folder that is removed. */
const REMOVAL = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 } as const;

export interface NewClusterOptions {
  /** Path of the initdb program. */
  initdb: string;
  /** Path of the finished cluster. */
  directory: string;
  superuser: string;
  password: string;
  /** For tests: no durability, trust authentication. */
  disposable: boolean;
  signal?: AbortSignal | undefined;
}

const draftPrefix = (directory: string): string => `${basename(directory)}.new-`;

/** Removes the draft and the password file of an interrupted initdb. */
export function removeDrafts(directory: string): void {
  const parent = dirname(directory);
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(draftPrefix(directory)) && name !== `${basename(directory)}.password`) continue;
    try {
      rmSync(join(parent, name), REMOVAL);
    } catch (error) {
      // Still being written; the next start removes it.
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
    }
  }
}

/**
 * Creates a cluster in a draft folder and renames the finished draft. initdb first writes the file that marks a cluster, so
 * a killed initdb would otherwise leave a broken folder that looks like a cluster.
 * @throws Error with the output of initdb; the signal's reason if aborted.
 */
export async function makeCluster(options: NewClusterOptions): Promise<void> {
  const { directory, signal } = options;
  signal?.throwIfAborted();
  const draft = mkdtempSync(join(dirname(directory), draftPrefix(directory)));
  try {
    const passwordFile = join(draft, 'password');
    const cluster = join(draft, 'cluster');
    writeFileSync(passwordFile, options.password, { mode: 0o600 });
    mkdirSync(cluster, { mode: 0o700 });
    if (isRoot()) for (const path of [draft, passwordFile, cluster]) chownSync(path, NOBODY, NOBODY);
    await runInitdb(options, cluster, passwordFile);
    signal?.throwIfAborted();
    // The folder isn't a cluster: an earlier version left it when it was killed.
    rmSync(directory, { recursive: true, force: true });
    renameSync(cluster, directory);
    syncFolder(dirname(directory));
  } finally {
    removeDrafts(directory);
  }
}

function runInitdb(options: NewClusterOptions, cluster: string, passwordFile: string): Promise<void> {
  const { initdb, superuser, disposable, signal } = options;
  const access = disposable
    ? ['-A', 'trust', '--no-sync']
    : ['-A', 'scram-sha-256', `--pwfile=${passwordFile}`];
  const flags = [
    '-D',
    cluster,
    '-U',
    superuser,
    '-E',
    'UTF8',
    '--locale-provider=builtin',
    '--locale=C.UTF-8',
  ];
  return new Promise((done, fail) => {
    // Its own process group: a Ctrl-C reaches the launcher only, and ending the group ends initdb's children, too.
    const child = spawn(initdb, [...flags, ...access], {
      ...serverIdentity(),
      cwd: '/',
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: SERVER_ENVIRONMENT,
    });
    let words = '';
    child.stderr.on('data', (chunk) => {
      words = `${words}${chunk}`.slice(-STDERR_KEPT);
    });
    const abort = (): void => {
      if (child.pid && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    };
    signal?.addEventListener('abort', abort, { once: true });
    child.on('error', fail);
    child.on('close', (code, by) => {
      signal?.removeEventListener('abort', abort);
      if (code === 0) done();
      else if (signal?.aborted) fail(signal.reason);
      else
        fail(
          new Error(`initdb failed to create the database (${by ?? `exit code ${code}`}):\n${words.trim()}`),
        );
    });
  });
}

/** Syncs the entries of a folder to the disk. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
