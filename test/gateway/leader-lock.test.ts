import { Writable } from 'node:stream';
import pg from 'pg';
import { pino } from 'pino';
import { advisoryLocks } from '../../src/db/locks.js';
import { holdLeaderLock, type LeaderLock } from '../../src/gateway/leader-lock.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createTestKey, errorOf, postChat, startTestEdge } from '../support/edge.js';
import { startScriptedUpstream } from '../support/scripted-upstream.js';
import { soonerThan } from '../support/sooner-than.js';
import { until } from '../support/until.js';

/** docs/decisions/0040: two edges admit at once for no longer than this while both reach the database. */
const BOUND_MS = 5_000;

describe('an edge that loses the lock of the one edge', () => {
  let db: TestDatabase;
  let rival: pg.Client;
  let lock: LeaderLock;
  let lines: string[];
  beforeEach(async () => {
    db = await createTestDatabase();
    rival = new pg.Client({ connectionString: db.url });
    await rival.connect();
    lines = [];
    const sink = new Writable({
      write(chunk, _encoding, done) {
        lines.push(JSON.parse(String(chunk)).msg);
        done();
      },
    });
    lock = await holdLeaderLock(db.url, pino(sink));
  });
  afterEach(async () => {
    await lock.release();
    await rival.end();
    await db.close();
  });

  const breakSession = () =>
    rival.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'gateway-edge-lock' and datname = current_database()`,
    );
  /** On a busy machine the edge may be faster to have it again: then once more. */
  const takeOver = () =>
    until(async () => {
      await breakSession();
      const { rows } = await rival.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
        advisoryLocks.singleEdge,
      ]);
      return rows[0]!.taken;
    });
  const giveBack = () => rival.query('select pg_advisory_unlock($1)', [advisoryLocks.singleEdge]);

  test('goes on while nobody else has the lock, and logs that once', async () => {
    await breakSession();
    await until(() => lines.length === 2);
    expect(lines).toEqual(['lost the single-edge lock', 'holding the single-edge lock again']);
    expect(lock.mayAdmit()).toBe(true);
    await expect(holdLeaderLock(db.url, pino({ level: 'silent' }), 200)).rejects.toThrow('another edge');
  });

  test('to another edge stops admitting in time, and goes on when the other edge ends', async () => {
    await takeOver();
    let regained = 0;
    lock.onRegained(() => {
      expect(lock.mayAdmit()).toBe(false);
      regained++;
    });
    await soonerThan(BOUND_MS, () => !lock.mayAdmit(), 'the edge stops admitting');
    expect(lines.at(-1)).toMatch(/another edge has taken over/);
    await giveBack();
    await until(() => lock.mayAdmit());
    expect(regained).toBe(1);
    expect(lines.at(-1)).toBe('holding the single-edge lock again');
  });

  test("answers 503 with Retry-After and isn't ready, and afterwards counts what the other edge has admitted", async () => {
    const upstream = await startScriptedUpstream();
    let admits = true;
    let regained = (): void => undefined;
    const edge = await startTestEdge(db, {
      upstreamUrl: upstream.url,
      lock: {
        mayAdmit: () => admits,
        onRegained: (listener) => {
          regained = listener;
        },
      },
    });
    try {
      const { key, accountId } = await createTestKey(db);
      expect((await postChat(edge.url, key)).status).toBe(200);
      await edge.settled();
      admits = false;
      const refused = await postChat(edge.url, key);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect((await errorOf(refused)).code).toBe('service_unavailable');
      expect((await fetch(`${edge.url}/health/ready`)).status).toBe(503);
      await db.pool.query('update accounts set balance = 0, ledger_seq = ledger_seq + 1 where id = $1', [
        accountId,
      ]);
      regained();
      admits = true;
      expect((await postChat(edge.url, key)).status).toBe(402);
    } finally {
      await edge.close();
      await upstream.close();
    }
  });
});
