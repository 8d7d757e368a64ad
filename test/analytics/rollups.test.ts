import { flushBatch } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { latencySketch } from '../../src/services/analytics/analytics.store.js';
import { dirtyHoursOf } from '../../src/services/analytics/dirty-hours-of-account.js';
import { createPayer, type Payer, recordOf } from '../metering/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { makeUsageInsertable } from '../support/insertable-usage.js';
import { checkInvariants } from '../support/invariants.js';
import { DAY_MS, dirtyHours, HOUR_MS, rolledHours, rollUpAt } from './support.js';

/** Two hours before the end of a month. */
const EDGE = Date.UTC(2026, 11, 1);

describe('the roll-up of usage', () => {
  let db: TestDatabase;
  let payer: Payer;
  beforeEach(async () => {
    db = await createTestDatabase();
    await makeUsageInsertable(db.pool);
    payer = await createPayer(db.pool);
  });
  afterEach(() => db.close());

  const at = (createdAt: number, changes: Partial<UsageRecord> = {}) =>
    recordOf(payer, { createdAt, ...changes });
  const flush = (...records: UsageRecord[]) => flushBatch(db.pool, records);

  test('takes an hour once it is over, to the millisecond, also at the edge of a month', async () => {
    await flush(at(EDGE - 1), at(EDGE - HOUR_MS), at(EDGE));
    expect(await rollUpAt(db, EDGE - 1)).toBe(0);
    expect(await rolledHours(db.pool)).toEqual([]);
    expect(await rollUpAt(db, EDGE)).toBe(1);
    expect(await rolledHours(db.pool)).toEqual([{ hour: '2026-11-30T23:00:00.000Z', requests: 2 }]);
    expect(await dirtyHours(db.pool)).toEqual(['2026-12-01T00:00:00.000Z']);
    expect(await rollUpAt(db, EDGE + HOUR_MS)).toBe(1);
    expect(await dirtyHours(db.pool)).toEqual([]);
    expect(await checkInvariants(db.pool)).toEqual([]);
  });

  test('sums counts per account, key and model, and the latencies of successful calls', async () => {
    await flush(
      at(EDGE, { latencyMs: 50 }),
      at(EDGE + 1, {
        latencyMs: 50,
        status: 'error',
        errorCode: 'upstream_error',
        outputTokens: 0,
        cost: 0n,
      }),
      at(EDGE + 2, { keyId: null, latencyMs: 7 }),
      at(EDGE + 3, { servedModel: 'gateway/qwen-pro', latencyMs: 90 }),
    );
    await rollUpAt(db, EDGE + HOUR_MS);
    const { rows } = await db.pool.query(
      `select key_id is not null as keyed, model, requests::int, errors::int, input_tokens::int, output_tokens::int,
         trim_scale(cost)::text as cost, latency_buckets, latency_counts
       from usage_rollups order by model, key_id`,
    );
    expect(rows).toEqual([
      {
        keyed: true,
        model: 'gateway/fast',
        requests: 2,
        errors: 1,
        input_tokens: 2_000,
        output_tokens: 500,
        cost: '0.00025',
        latency_buckets: [51],
        latency_counts: [1],
      },
      {
        keyed: false,
        model: 'gateway/fast',
        requests: 1,
        errors: 0,
        input_tokens: 1_000,
        output_tokens: 500,
        cost: '0.00025',
        latency_buckets: [8],
        latency_counts: [1],
      },
      expect.objectContaining({ keyed: true, model: 'gateway/qwen-pro', requests: 1, latency_buckets: [91] }),
    ]);
  });

  test('an event that arrives late makes its hour be rolled up again as a whole', async () => {
    await flush(at(EDGE), at(EDGE + 1));
    await rollUpAt(db, EDGE + HOUR_MS);
    await flush(at(EDGE + 2));
    expect(await dirtyHours(db.pool)).toEqual(['2026-12-01T00:00:00.000Z']);
    expect(await rollUpAt(db, EDGE + 9 * HOUR_MS)).toBe(1);
    expect(await rolledHours(db.pool)).toEqual([{ hour: '2026-12-01T00:00:00.000Z', requests: 3 }]);
    expect(await checkInvariants(db.pool)).toEqual([]);
  });

  test('an event that is committed while its hour is rolled up is in the next roll-up', async () => {
    await flush(at(EDGE));
    const writer = await db.pool.connect();
    try {
      await writer.query('begin');
      await writer.query(`insert into rollup_dirty values ('2026-12-01T00:00:00Z')`);
      await writer.query(
        `insert into usage_events select (jsonb_populate_record(null::usage_events,
           to_jsonb(u) || jsonb_build_object('id', gen_random_uuid()))).* from usage_events u`,
      );
      expect(await rollUpAt(db, EDGE + HOUR_MS)).toBe(1);
      expect(await rolledHours(db.pool)).toMatchObject([{ requests: 1 }]);
      await writer.query('commit');
    } finally {
      writer.release();
    }
    expect(await rollUpAt(db, EDGE + HOUR_MS)).toBe(1);
    expect(await rolledHours(db.pool)).toMatchObject([{ requests: 2 }]);
  });

  test('merges the latencies of a completed day, and again when an event arrives late', async () => {
    const scope = {
      accountId: payer.accountId,
      keyIds: [payer.keyId],
      from: new Date(EDGE),
      until: new Date(EDGE + DAY_MS),
    };
    const calls = async () => {
      const dirty = await dirtyHoursOf(db.orm, payer.accountId);
      const found = await latencySketch(db.orm.em.fork(), { ...scope, dirty });
      return found.reduce((sum, { count }) => sum + count, 0);
    };
    const merged = async () => {
      const { rows } = await db.pool.query<{ n: number[] }>(
        'select latency_counts::int[] as n from usage_latency_days',
      );
      return rows.map(({ n }) => n.reduce((sum, count) => sum + count));
    };
    await flush(at(EDGE, { latencyMs: 50 }), at(EDGE + 5 * HOUR_MS, { latencyMs: 50 }));
    await rollUpAt(db, EDGE + 23 * HOUR_MS);
    expect([await merged(), await calls()]).toEqual([[], 2]);
    await rollUpAt(db, EDGE + DAY_MS);
    expect([await merged(), await calls()]).toEqual([[2], 2]);
    await flush(at(EDGE + HOUR_MS, { latencyMs: 7 }));
    expect([await merged(), await calls()]).toEqual([[2], 3]);
    await rollUpAt(db, EDGE + DAY_MS);
    expect([await merged(), await calls()]).toEqual([[3], 3]);
    expect(await checkInvariants(db.pool)).toEqual([]);
  });

  test('repeated, or run by many processes at once, changes nothing', async () => {
    await flush(...Array.from({ length: 6 }, (_, hour) => at(EDGE + hour * HOUR_MS)));
    const counts = await Promise.all(Array.from({ length: 4 }, () => rollUpAt(db, EDGE + 6 * HOUR_MS)));
    expect(counts.reduce((sum, n) => sum + n)).toBe(6);
    const rolled = await rolledHours(db.pool);
    expect(rolled).toHaveLength(6);
    expect(await rollUpAt(db, EDGE + 6 * HOUR_MS)).toBe(0);
    expect(await rolledHours(db.pool)).toEqual(rolled);
    expect(await checkInvariants(db.pool)).toEqual([]);
  });

  test('keeps one row of the current hour, however many flushes there were', async () => {
    for (let n = 0; n < 5; n++) await flush(at(EDGE + n));
    expect(await dirtyHours(db.pool)).toHaveLength(5);
    await rollUpAt(db, EDGE + 10);
    expect(await dirtyHours(db.pool)).toEqual(['2026-12-01T00:00:00.000Z']);
  });

  test('a batch that is sent again marks nothing', async () => {
    const records = [at(EDGE)];
    await flush(...records);
    await rollUpAt(db, EDGE + HOUR_MS);
    await flush(...records);
    expect(await dirtyHours(db.pool)).toEqual([]);
  });
});
