import { sql } from 'kysely';
import { flushBatch } from '../../src/metering/flush.store.js';
import type {
  LeaderboardModelOutput,
  LeaderboardOutput,
  LeaderboardRowOutput,
} from '../../src/services/leaderboard/leaderboard.outputs.js';
import type { LeaderboardMixOutput } from '../../src/services/leaderboard/mix.outputs.js';
import { recomputeModelHour } from '../../src/services/leaderboard/model-hours.store.js';
import { type QuietHour, withheldHours } from '../../src/services/leaderboard/quiet-hours.rules.js';
import type { StatusOutput } from '../../src/services/leaderboard/status.outputs.js';
import { rollUpAt } from '../analytics/support.js';
import { createPayer, recordOf } from '../metering/support.js';
import { call, signUp } from '../support/api.js';
import fc from '../support/fast-check.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';
import { callModel, LAST_HOUR, NOW } from './support.js';

const HOUR_MS = 3_600_000;
const LEAST = 3;

describe('hours in which too few accounts called', () => {
  const first = Date.UTC(2026, 10, 19);
  const hours = fc.uniqueArray(
    fc.record({
      at: fc.nat(71),
      accounts: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), {
        minLength: 1,
        maxLength: LEAST - 1,
      }),
    }),
    { selector: ({ at }) => at, maxLength: 72 },
  );
  const hourOf = ({ at, accounts }: { at: number; accounts: string[] }): QuietHour => ({
    model: 'gateway/fast',
    hour_ms: first + at * HOUR_MS,
    accounts,
  });

  /** What totals count of the hours from one on and before another. */
  function counted(quiet: readonly QuietHour[], from: number, until: number): QuietHour[] {
    const known = quiet.filter(({ hour_ms }) => hour_ms < first + until * HOUR_MS);
    const start = first + from * HOUR_MS;
    const out = new Set(withheldHours(known, LEAST, start).map(({ hour_ms }) => hour_ms));
    return known.filter(({ hour_ms }) => hour_ms >= start && !out.has(hour_ms));
  }
  const accountsOf = (some: readonly QuietHour[]): number =>
    new Set(some.flatMap(({ accounts }) => accounts)).size;

  test('never are the difference of two published totals, over time or between windows', () => {
    const moment = fc.nat(72);
    fc.assert(
      fc.property(hours, moment, moment, moment, moment, (some, from, until, otherFrom, otherUntil) => {
        const quiet = some.map(hourOf);
        const one = counted(quiet, from, until);
        const other = counted(quiet, otherFrom, otherUntil);
        const only = (a: QuietHour[], b: QuietHour[]) => a.filter((hour) => !b.includes(hour));
        for (const difference of [only(one, other), only(other, one)])
          expect(difference.length === 0 || accountsOf(difference) >= LEAST).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test('count once enough accounts called in such hours of a day', () => {
    const quiet = [
      { at: 1, accounts: ['a'] },
      { at: 5, accounts: ['a', 'b'] },
      { at: 9, accounts: ['c'] },
      { at: 11, accounts: ['d', 'e'] },
      { at: 25, accounts: ['f'] },
    ].map(hourOf);
    const times = (from: number) =>
      counted(quiet, from, 72).map(({ hour_ms }) => (hour_ms - first) / HOUR_MS);
    expect(times(0)).toEqual([1, 5, 9]);
    // A window that begins within a group has none of it.
    expect(times(2)).toEqual([]);
  });
});

describe('public figures of hours in which too few accounts called', () => {
  const suite = usePlatform({ own: true, clock: { now: () => NOW }, env: { LEADERBOARD_MIN_ACCOUNTS: '2' } });
  const get = async <T>(path: string): Promise<T> => (await call<T>(suite.url, 'GET', path)).body;
  const requestsOf = async () => {
    const [board, board30, model, row, status] = await Promise.all([
      get<LeaderboardOutput>('/api/leaderboard'),
      get<LeaderboardOutput>('/api/leaderboard?window_days=30'),
      get<LeaderboardModelOutput>('/api/leaderboard/gateway/fast'),
      get<LeaderboardRowOutput>('/api/leaderboard/gateway/fast/row'),
      get<StatusOutput>('/api/status'),
    ]);
    const { days, state } = status.models.find(({ model_public_name: name }) => name === 'gateway/fast')!;
    return {
      board: board.entries[0]?.requests ?? 0,
      board30: board30.entries[0]?.requests ?? 0,
      hours: model.hourly_breakdown.flatMap(({ hour, requests }) =>
        requests > 0 ? [[hour.slice(5, 13), requests]] : [],
      ),
      row: row.successes,
      points: row.latency_ms.reduce((sum, { count }) => sum + count, 0),
      today: days.at(-1)!.requests,
      state,
    };
  };
  const changed = (from: number) =>
    until(
      async () => {
        const { board } = await requestsOf();
        // The news may have come between two of these answers.
        return board === from ? undefined : requestsOf();
      },
      { what: 'the roll-up to arrive' },
    );

  test('never show one of them alone, in any window, table or file', async () => {
    // Alone, one after the other; an hour before them, two call at once.
    await callModel(suite.db, 'gateway/fast', 300, { createdAt: LAST_HOUR });
    await rollUpAt(suite.db, NOW);
    const alone = { board: 0, board30: 0, hours: [], row: 0, points: 0, today: 0, state: 'no_data' };
    expect(await requestsOf()).toEqual(alone);

    for (const count of [60, 61])
      await callModel(suite.db, 'gateway/fast', count, { createdAt: LAST_HOUR - HOUR_MS });
    await callModel(suite.db, 'gateway/fast', 500, { createdAt: LAST_HOUR - 10 * 24 * HOUR_MS });
    await rollUpAt(suite.db, NOW);
    const together = { board: 121, board30: 121, row: 121, points: 121, today: 121, state: 'operational' };
    expect(await changed(0)).toEqual({ ...together, hours: [['11-21T10', 121]] });

    // A second account in a second quiet hour: both count, neither is shown.
    await callModel(suite.db, 'gateway/fast', 7, { createdAt: LAST_HOUR - 2 * HOUR_MS });
    await rollUpAt(suite.db, NOW);
    const grouped = { board: 428, board30: 428, row: 428, points: 428, today: 428, state: 'operational' };
    expect(await changed(121)).toEqual({ ...grouped, hours: [['11-21T10', 121]] });
  });
});

describe('an hour in which one account called, rolled up while public figures are read', () => {
  const suite = usePlatform({ own: true, clock: { now: () => NOW }, env: { LEADERBOARD_MIN_ACCOUNTS: '2' } });

  test('counts in none of them', async () => {
    const viewer = await signUp(suite.url);
    const together = { createdAt: LAST_HOUR - HOUR_MS, latencyMs: 40 };
    const payer = { ...(await createPayer(suite.db.pool)), accountId: viewer.user.id };
    await flushBatch(
      suite.db.pool,
      Array.from({ length: 60 }, () => recordOf(payer, together)),
    );
    await callModel(suite.db, 'gateway/fast', 61, together);
    await rollUpAt(suite.db, NOW);
    await callModel(suite.db, 'gateway/fast', 300, { createdAt: LAST_HOUR, latencyMs: 900 });

    let asked: Promise<{ body: LeaderboardOutput }> | undefined;
    await suite.db.orm.em.fork().transactional(async (em) => {
      await sql`lock table model_hours in access exclusive mode`.execute(em.getKysely());
      asked = call<LeaderboardOutput>(suite.url, 'GET', '/api/leaderboard');
      await until(
        async () => {
          const { rowCount } = await suite.db.pool.query(
            `select from pg_locks join pg_database d on d.oid = database
             where datname = current_database() and relation = 'model_hours'::regclass and not granted`,
          );
          return rowCount === 1;
        },
        { what: 'the totals to wait for the table' },
      );
      await recomputeModelHour(em, new Date(LAST_HOUR));
    });
    const { entries } = (await asked!).body;
    expect(entries.map(({ requests }) => requests)).toEqual([121]);

    // The board is kept. Latencies of all accounts are read after it.
    const { body } = await call<LeaderboardMixOutput>(suite.url, 'GET', '/api/leaderboard/mine', {
      token: viewer.token,
    });
    const fast = body.entries.find(({ model_public_name: name }) => name === 'gateway/fast')!;
    expect([fast.requests, fast.everyone_p95_latency_ms]).toEqual([60, 40]);
  });
});
