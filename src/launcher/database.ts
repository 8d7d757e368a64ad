import { setTimeout as delay } from 'node:timers/promises';
import { SESSION_LIMITS } from '../db/bounded.js';
import { DatabaseClient } from '../db/client.js';
import { type EmbeddedOptions, type EmbeddedPostgres, startEmbeddedPostgres } from '../db/embedded.js';
import { type RestartBackOff, Restarts } from './restarts.js';

const WATCH_MS = 250;
const QUERY_MS = 5_000;

/** `signal` aborts the first start only. Later, the other processes need the database for an orderly stop. */
export interface KeepOptions extends EmbeddedOptions {
  /** Prints one line. */
  say(line: string): void;
  backOff?: RestartBackOff;
}

/** The embedded database, running as long as the launcher. */
export interface KeptDatabase {
  /** The server of the first start. Restarts keep its address. */
  readonly server: EmbeddedPostgres;
  /** Stops the database for good. Safe to call during a restart. */
  stop(): Promise<void>;
}

/**
 * Starts the embedded database, and restarts it on the same port with the same data when its process is gone (killed, or
 * out of memory). The other processes reconnect by themselves.
 */
export async function keepDatabase({ say, backOff, ...options }: KeepOptions): Promise<KeptDatabase> {
  const first = await startEmbeddedPostgres(options);
  const stopping = new AbortController();
  const { signal } = stopping;
  let current = first;
  const restarts = new Restarts(backOff);
  let startedAt = Date.now();

  const restart = async (): Promise<void> => {
    const waitMs = restarts.pauseMs(Date.now() - startedAt);
    say(`the database exited; restarting it in ${waitMs / 1000} s`);
    await delay(waitMs, undefined, { signal });
    // Also set if the start fails: only time that a server has served resets the back-off.
    startedAt = Date.now();
    current = await startEmbeddedPostgres({ ...options, port: first.port, signal });
    startedAt = Date.now();
    say('the database is back');
  };

  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await delay(WATCH_MS, undefined, { signal, ref: false });
        if (!current.running()) await restart();
      } catch (error) {
        if (!signal.aborted) say(`failed to start the database: ${(error as Error).message}`);
      }
    }
  };

  const watching = watch();
  return {
    server: first,
    async stop() {
      stopping.abort();
      await watching;
      await current.stop();
    },
  };
}

/** Whether an active account is an administrator. True if the database doesn't say. */
export async function hasAdministrator(databaseUrl: string): Promise<boolean> {
  const client = new DatabaseClient({
    ...SESSION_LIMITS,
    connectionString: databaseUrl,
    connectionTimeoutMillis: QUERY_MS,
    query_timeout: QUERY_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rowCount } = await client.query(
      "select 1 from accounts where role = 'admin' and status = 'active' and deleted_at is null limit 1",
    );
    return rowCount !== 0;
  } catch {
    return true;
  } finally {
    await client.end().catch(() => undefined);
  }
}
