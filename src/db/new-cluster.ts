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
/** An initdb whose launcher was killed may still be writing where we remove. */
const REMOVAL = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 } as const;

export interface NewClusterOptions {
  /** Path of the initdb program. */
  initdb: string;
  /** Where the finished cluster shall lie. */
  directory: string;
  superuser: string;
  password: string;
  /** For tests: no durability, trust authentication. */
  disposable: boolean;
  signal?: AbortSignal | undefined;
}

const draftPrefix = (directory: string): string => `${basename(directory)}.new-`;

/** Removes what an initdb that was cut short left beside the cluster: its draft, and the password for it. */
export function removeDrafts(directory: string): void {
  const parent = dirname(directory);
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(draftPrefix(directory)) && name !== `${basename(directory)}.password`) continue;
    try {
      rmSync(join(parent, name), REMOVAL);
    } catch (error) {
      // Somebody still writes there: it goes with the next start.
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
    }
  }
}

/**
 * Makes a cluster in a draft beside its place and puts it there whole: initdb writes the file that says "here is a
 * cluster" first, so that one that is killed would otherwise leave what looks like a cluster and isn't.
 * @throws Error with the words of initdb; the signal's reason when it is aborted.
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
    // A folder that isn't a cluster, as an earlier version left it when it was killed.
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
    // A group of its own: a Ctrl-C is for the launcher, and initdb's own children go with it when it is ended.
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

/** Brings the entries of a folder to the disk. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
