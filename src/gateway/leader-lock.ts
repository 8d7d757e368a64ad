import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { SESSION_LIMITS } from '../db/bounded.js';
import { advisoryLocks } from '../db/locks.js';
import type { Logger } from '../lib/logger.js';
import { within } from '../lib/within.js';

const PATIENCE_MS = 60_000;
const POLL_MS = 500;
/** How soon an edge that lost its lock is back for it: well before any other may take it. */
const RETRY_MS = 250;
/** The same once another edge serves. */
const STANDBY_MS = 1_000;
/** A second edge leaves the lock to the former holder for so long after the database was away or restarted. */
const GRACE_MS = 3_000;
/** Another edge counts as the holder after this time: just after an outage it may be our own former session. */
const CONFIRM_MS = 1_000;
/** Interval at which the session is checked: a failover of the database ends it silently. */
const PROBE_MS = 1_000;
/** A frozen server neither connects nor answers nor says good-bye. */
const ANSWER_TIMEOUT_MS = 2_000;
const GOODBYE_MS = 1_000;

/** Another edge serves already. */
export class SecondEdgeError extends Error {}

export interface LeaderLock {
  /** Whether this edge may admit calls: it has the lock, or has lost it and knows of no other holder. */
  mayAdmit(): boolean;
  /** Called when the lock is ours again after another edge had it, just before calls are admitted. */
  onRegained(listener: () => void): void;
  release(): Promise<void>;
}

/**
 * Without Redis, counters are in this process, so two edges would admit twice the limit: the second one waits for the
 * first to end. The lock belongs to a separate session and is taken again when that session is lost
 * (docs/decisions/0040-the-lock-of-the-one-edge.md).
 * @throws SecondEdgeError after 60 s, or why the database could not be asked.
 */
export async function holdLeaderLock(
  databaseUrl: string,
  log: Logger,
  patienceMs = PATIENCE_MS,
): Promise<LeaderLock> {
  let serverStart: string | undefined;
  let doubtfulUntil = 0;
  let waiting = false;
  for (const end = performance.now() + patienceMs; ; await delay(POLL_MS)) {
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
  /** The session that holds the lock; undefined when another has it or it wasn't asked for. */
  session: pg.Client | undefined;
  /** When the server was started. */
  startedAt: string;
}

async function openSession(databaseUrl: string, take: boolean): Promise<Attempt> {
  const session = new pg.Client({
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
    // A session that answers too late must not keep the lock from us.
    if (!held) session.end().catch(() => undefined);
  }
}

/** A lock that was held once. */
class HeldLock implements LeaderLock {
  #session: pg.Client | undefined;
  /** Since when another is said to have it. */
  #toldAt: number | undefined;
  #taken = false;
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
    return !this.#taken;
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
    this.#toldAt = undefined;
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

  /** Calls continue, and the lock is taken again as soon as the database responds, unless another edge has it. */
  async #regain(): Promise<void> {
    while (!this.#released) {
      const attempt = await openSession(this.databaseUrl, true).catch(() => undefined);
      if (attempt?.session) {
        this.#regained(attempt.session);
        return;
      }
      if (attempt) this.#told();
      await delay(this.#taken ? STANDBY_MS : RETRY_MS, undefined, { ref: false });
    }
  }

  #regained(session: pg.Client): void {
    if (this.#released) {
      session.end().catch(() => undefined);
      return;
    }
    this.#keep(session);
    this.log.warn('holding the single-edge lock again');
    if (!this.#taken) return;
    this.#listener?.();
    this.#taken = false;
  }

  #told(): void {
    this.#toldAt ??= performance.now();
    if (this.#taken || performance.now() - this.#toldAt < CONFIRM_MS) return;
    this.#taken = true;
    this.log.error(
      'another edge has taken over; this one rejects calls until it holds the single-edge lock again',
    );
  }
}
