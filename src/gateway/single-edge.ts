import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { advisoryLocks } from '../db/locks.js';
import type { Logger } from '../lib/logger.js';
import { within } from '../lib/within.js';

const PATIENCE_MS = 60_000;
const POLL_MS = 500;
const RETRY_MS = 1_000;
/** A frozen server neither connects nor answers nor says good-bye. */
const ANSWER_TIMEOUT_MS = 3_000;
const GOODBYE_MS = 1_000;

export interface EdgeLock {
  release(): Promise<void>;
}

/** Another edge serves already. */
export class SecondEdgeError extends Error {}

/**
 * Without Redis counters live in this process, so that two edges would admit twice what they should: the second
 * waits for the first to end. The lock lies on a session of its own and is taken again when that session is lost.
 * @throws SecondEdgeError after 60 s.
 */
export async function holdEdgeLock(
  databaseUrl: string,
  log: Logger,
  patienceMs = PATIENCE_MS,
): Promise<EdgeLock> {
  let client: pg.Client | undefined;
  let released = false;
  const tryLock = async (): Promise<boolean> => {
    const next = new pg.Client({
      connectionString: databaseUrl,
      application_name: 'gateway-edge-lock',
      connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      keepAlive: true,
    });
    next.on('error', () => undefined);
    let held = false;
    try {
      await next.connect();
      const sql = 'select pg_try_advisory_lock($1) as held';
      const { rows } = await next.query<{ held: boolean }>(sql, [advisoryLocks.singleEdge]);
      held = rows[0]!.held;
    } finally {
      // A session that answers too late must not keep the lock from us.
      if (!held) next.end().catch(() => undefined);
    }
    if (!held) return false;
    client = next;
    next.on('end', () => void regain());
    return true;
  };
  /** The database restarted: traffic goes on, and the lock is taken again as soon as it answers. */
  const regain = async (): Promise<void> => {
    client = undefined;
    if (!released) log.warn('the lock of the one edge is not ours at the moment');
    while (!released) {
      await delay(RETRY_MS, undefined, { ref: false });
      if (released) return;
      if (await tryLock().catch(() => false)) {
        log.warn('the lock of the one edge is ours again');
        return;
      }
    }
  };
  for (const end = Date.now() + patienceMs; ; await delay(POLL_MS)) {
    if (await tryLock()) break;
    if (Date.now() > end) {
      throw new SecondEdgeError('another edge is running: set REDIS_URL to run more than one');
    }
  }
  return {
    async release() {
      released = true;
      client?.removeAllListeners('end');
      if (client) await within(GOODBYE_MS, client.end()).catch(() => undefined);
    },
  };
}
