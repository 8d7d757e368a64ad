import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { SESSION_LIMITS } from '../db/bounded.js';
import { DatabaseClient } from '../db/client.js';
import { advisoryLocks } from '../db/locks.js';
import type { Logger } from '../lib/logger.js';
import { within } from '../lib/within.js';

const TIMEOUT_MS = 60_000;
const POLL_MS = 500;
/** Retry interval of an edge that lost its lock: shorter than GRACE_MS, so that it is first. */
const RETRY_MS = 250;
/** Retry interval once another edge holds the lock. */
const STANDBY_MS = 1_000;
/** For this long after a database outage or restart, a waiting edge leaves the lock to the former holder. */
const GRACE_MS = 3_000;
/** Another session must hold the lock for this long before it counts as another edge: it may be our own old session. */
const CONFIRM_MS = 1_000;
/** Interval at which the session is checked, because a database failover ends it silently. */
const PROBE_MS = 1_000;
/** Limits how long a frozen server can block us. */
const ANSWER_TIMEOUT_MS = 2_000;
const GOODBYE_MS = 1_000;

/** Another edge holds the lock. */
export class SecondEdgeError extends Error {}

export interface LeaderLock {
  /** Whether this edge may admit calls: it has the lock, or has lost it and knows of no other holder. */
  mayAdmit(): boolean;
  /** Called when this edge has the lock again after another edge held it, just before calls are admitted. */
  onRegained(listener: () => void): void;
  release(): Promise<void>;
}

/**
 * Waits until no other edge runs, and keeps others out. Without Redis, counters are in this process, so two edges would admit twice
 * the limit. The lock belongs to a separate database session and is taken again when that session is lost
 * (docs/decisions/0040-the-lock-of-the-one-edge.md).
 * @throws SecondEdgeError after 60 s, or the error of the database
 */
export async function holdLeaderLock(
  databaseUrl: string,
  log: Logger,
  timeoutMs = TIMEOUT_MS,
): Promise<LeaderLock> {
  let serverStart: string | undefined;
  let doubtfulUntil = 0;
  let waiting = false;
  for (const end = performance.now() + timeoutMs; ; await delay(POLL_MS)) {
    let failure: unknown;
    try {
      const doubtful = performance.now() < doubtfulUntil;
      const { session, startedAt } = await openSession(databaseUrl, !doubtful);
      const restarted = serverStart !== undefined && startedAt !== serverStart;
      serverStart = startedAt;
      if (session && !restarted) return new HeldLock(databaseUrl, log, session);
      if (restarted) doubtfulUntil = performance.now() + GRACE_MS;
      session?.end().catch(() => undefined);
      if (!session && !waiting)
        log.warn('another edge is running; waiting for it to stop (set REDIS_URL to run several)');
      waiting ||= !session;
    } catch (error) {
      failure = error;
      doubtfulUntil = performance.now() + GRACE_MS;
    }
    if (performance.now() < end) continue;
    throw failure ?? new SecondEdgeError('another edge is running: set REDIS_URL to run more than one');
  }
}

interface Attempt {
  /** The session that holds the lock; undefined if another session holds it or `take` was false. */
  session: pg.Client | undefined;
  /** Start time of the database server. */
  startedAt: string;
}

async function openSession(databaseUrl: string, take: boolean): Promise<Attempt> {
  const session = new DatabaseClient({
    connectionString: databaseUrl,
    application_name: 'gateway-edge-lock',
    connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
    ...SESSION_LIMITS,
  });
  session.on('error', () => undefined);
  let held = false;
  try {
    await session.connect();
    const sql = `select case when $2::boolean then pg_try_advisory_lock($1) else false end as held,
      pg_postmaster_start_time()::text as "startedAt"`;
    const { rows } = await session.query<{ held: boolean; startedAt: string }>(sql, [
      advisoryLocks.singleEdge,
      take,
    ]);
    held = rows[0]!.held;
    return { session: held ? session : undefined, startedAt: rows[0]!.startedAt };
  } finally {
    // A session that connects too late must not hold the lock.
    if (!held) session.end().catch(() => undefined);
  }
}

/** A lock that this edge holds, or lost and tries to regain. */
class HeldLock implements LeaderLock {
  #session: pg.Client | undefined;
  /** Since when another session has held the lock. */
  #heldByOtherSince: number | undefined;
  #takenOver = false;
  #released = false;
  #listener: (() => void) | undefined;
  readonly #probe: NodeJS.Timeout;

  constructor(
    private readonly databaseUrl: string,
    private readonly log: Logger,
    session: pg.Client,
  ) {
    this.#keep(session);
    this.#probe = setInterval(() => this.#ask(), PROBE_MS);
    this.#probe.unref();
  }

  mayAdmit(): boolean {
    return !this.#takenOver;
  }

  onRegained(listener: () => void): void {
    this.#listener = listener;
  }

  async release(): Promise<void> {
    this.#released = true;
    clearInterval(this.#probe);
    if (this.#session) await within(GOODBYE_MS, this.#session.end()).catch(() => undefined);
  }

  #keep(session: pg.Client): void {
    this.#session = session;
    this.#heldByOtherSince = undefined;
    session.once('end', () => this.#lose(session));
  }

  #ask(): void {
    const session = this.#session;
    session?.query('select 1').catch(() => this.#lose(session));
  }

  #lose(session: pg.Client): void {
    if (this.#session !== session || this.#released) return;
    this.#session = undefined;
    session.end().catch(() => undefined);
    this.log.warn('lost the single-edge lock');
    void this.#regain();
  }

  /** Takes the lock again as soon as the database responds, unless another edge has it. Calls continue meanwhile. */
  async #regain(): Promise<void> {
    while (!this.#released) {
      const attempt = await openSession(this.databaseUrl, true).catch(() => undefined);
      if (attempt?.session) {
        this.#regained(attempt.session);
        return;
      }
      if (attempt) this.#noteOtherHolder();
      await delay(this.#takenOver ? STANDBY_MS : RETRY_MS, undefined, { ref: false });
    }
  }

  #regained(session: pg.Client): void {
    if (this.#released) {
      session.end().catch(() => undefined);
      return;
    }
    this.#keep(session);
    this.log.warn('holding the single-edge lock again');
    if (!this.#takenOver) return;
    this.#listener?.();
    this.#takenOver = false;
  }

  #noteOtherHolder(): void {
    this.#heldByOtherSince ??= performance.now();
    if (this.#takenOver || performance.now() - this.#heldByOtherSince < CONFIRM_MS) return;
    this.#takenOver = true;
    this.log.error(
      'another edge has taken over; this one rejects calls until it holds the single-edge lock again',
    );
  }
}
