import { flushBatch } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { createAnalyticsService } from '../../src/services/analytics/analytics.service.js';
import { latencySketch } from '../../src/services/analytics/analytics.store.js';
import { dirtyHoursOf } from '../../src/services/analytics/dirty-hours-of-account.js';
import { contextOf } from '../billing/fixtures.js';
import { createPayer, type Payer, recordOf } from '../metering/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { DAY_MS, HOUR_MS, rollUpAt } from './support.js';

/** The first instant of a month. */
const MONTH = Date.UTC(2026, 11, 1);

describe('analytics of an account', () => {
  let db: TestDatabase;
  let payer: Payer;
  const analytics = createAnalyticsService();
  beforeEach(async () => {
    db = await createTestDatabase();
    payer = await createPayer(db.pool);
  });
  afterEach(() => db.close());

  const at = (createdAt: number, changes: Partial<UsageRecord> = {}) =>
    recordOf(payer, { createdAt, ...changes });
  const flush = (...records: UsageRecord[]) => flushBatch(db.pool, records);
  const read = (now: number, windowDays = 2, accountId = payer.accountId) =>
    analytics.ofAccount(
      contextOf(db, accountId, () => now),
      { window_days: windowDays },
    );
  const requestsPerDay = async (now: number, windowDays = 2) => {
    const { daily_breakdown, total_requests, total_tokens_in } = await read(now, windowDays);
    const sum = daily_breakdown.reduce((requests, day) => requests + day.requests, 0);
    expect([total_requests, total_tokens_in]).toEqual([sum, 1_000 * sum]);
    return daily_breakdown.map(({ date, requests }) => [date, requests]);
  };

  test('without usage are zeros, one entry per day', async () => {
    expect(await read(MONTH, 3)).toEqual({
      window_days: 3,
      total_requests: 0,
      error_count: 0,
      error_rate: 0,
      p50_latency_ms: 0,
      p95_latency_ms: 0,
      total_cost_usd: '0.000000',
      total_tokens_in: 0,
      total_tokens_out: 0,
      top_models: [],
      daily_breakdown: ['2026-11-29', '2026-11-30', '2026-12-01'].map((date) => ({
        date,
        requests: 0,
        errors: 0,
        cost_usd: '0.000000',
      })),
    });
  });

  test('sum rolled-up hours and the current hour of this account only', async () => {
    const stranger = await createPayer(db.pool);
    await flush(
      at(MONTH - DAY_MS, { latencyMs: 100 }),
      at(MONTH - 1, { latencyMs: 300, keyId: null }),
      at(MONTH, { latencyMs: 200, servedModel: 'gateway/qwen-pro' }),
      at(MONTH + 1, {
        status: 'error',
        errorCode: 'upstream_error',
        cost: 0n,
        outputTokens: 0,
        latencyMs: 9,
      }),
      recordOf(stranger, { createdAt: MONTH }),
    );
    await rollUpAt(db, MONTH);
    expect(await read(MONTH + 5)).toEqual({
      window_days: 2,
      total_requests: 4,
      error_count: 1,
      error_rate: 0.25,
      p50_latency_ms: 200,
      p95_latency_ms: 300,
      total_cost_usd: '0.000750',
      total_tokens_in: 4_000,
      total_tokens_out: 1_500,
      top_models: [
        { model_public_name: 'gateway/fast', requests: 3, cost_usd: '0.000500' },
        { model_public_name: 'gateway/qwen-pro', requests: 1, cost_usd: '0.000250' },
      ],
      daily_breakdown: [
        { date: '2026-11-30', requests: 2, errors: 0, cost_usd: '0.000500' },
        { date: '2026-12-01', requests: 2, errors: 1, cost_usd: '0.000250' },
      ],
    });
  });

  test('a window begins and ends with a UTC day, also at the edge of an hour, a day and a month', async () => {
    await flush(at(MONTH - DAY_MS - 1), at(MONTH - DAY_MS), at(MONTH - 1), at(MONTH), at(MONTH + HOUR_MS));
    for (const rolledUpTo of [0, MONTH - 1, MONTH, MONTH + HOUR_MS, MONTH + 2 * HOUR_MS]) {
      await rollUpAt(db, rolledUpTo);
      expect(await requestsPerDay(MONTH - 1)).toEqual([
        ['2026-11-29', 1],
        ['2026-11-30', 2],
      ]);
      expect(await requestsPerDay(MONTH)).toEqual([
        ['2026-11-30', 2],
        ['2026-12-01', 2],
      ]);
      expect(await requestsPerDay(MONTH, 1)).toEqual([['2026-12-01', 2]]);
    }
  });

  test('are right at once when an event arrives late, before and after its hour is rolled up again', async () => {
    await flush(at(MONTH));
    await rollUpAt(db, MONTH + HOUR_MS);
    await flush(at(MONTH + 1, { latencyMs: 5_000 }));
    const before = await read(MONTH + 3 * HOUR_MS);
    expect([before.total_requests, before.total_cost_usd, before.p95_latency_ms]).toEqual([
      2,
      '0.000500',
      5_000,
    ]);
    expect(await rollUpAt(db, MONTH + 3 * HOUR_MS)).toBe(1);
    expect(await read(MONTH + 3 * HOUR_MS)).toEqual(before);
  });

  test('an earlier window ends at the present time of day, to the millisecond, however much is rolled up', async () => {
    const NOON = MONTH + 12 * HOUR_MS + 30_000;
    const former = (windowDays: number) =>
      analytics.ofAccount(
        contextOf(db, payer.accountId, () => NOON),
        { window_days: windowDays, ends_days_ago: windowDays },
      );
    await flush(
      at(NOON - 2 * DAY_MS, { latencyMs: 4 }),
      at(NOON - DAY_MS - HOUR_MS, { latencyMs: 5 }),
      at(NOON - DAY_MS - 1, { latencyMs: 7 }),
      at(NOON - DAY_MS, { latencyMs: 9 }),
      at(NOON - HOUR_MS),
    );
    for (const rolledUpTo of [0, NOON - DAY_MS, NOON]) {
      await rollUpAt(db, rolledUpTo);
      const yesterday = await former(1);
      expect([yesterday.total_requests, yesterday.p95_latency_ms]).toEqual([2, 7]);
      expect((await former(2)).total_requests).toBe(0);
    }
    const sketch = await latencySketch(db.orm.em.fork(), {
      accountId: payer.accountId,
      from: new Date(MONTH - DAY_MS),
      until: new Date(NOON - DAY_MS),
      dirty: await dirtyHoursOf(db.orm, payer.accountId),
    });
    expect(sketch.map(({ bucket, count }) => [bucket, count]).sort()).toEqual([
      [6, 1],
      [8, 1],
    ]);
  });

  test('name the five models with the most calls, ties by name', async () => {
    const models = ['f', 'e', 'd', 'c', 'b', 'a', 'a'];
    await flush(...models.map((servedModel, n) => at(MONTH + n, { servedModel })));
    const { top_models } = await read(MONTH);
    expect(top_models.map((model) => [model.model_public_name, model.requests])).toEqual([
      ['a', 2],
      ['b', 1],
      ['c', 1],
      ['d', 1],
      ['e', 1],
    ]);
  });

  test('are refused to anonymous callers', async () => {
    await expect(analytics.ofAccount(contextOf(db, null), { window_days: 1 })).rejects.toMatchObject({
      code: 'unauthorized',
    });
  });
});
