import { flushBatch } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { createAnalyticsService } from '../../src/services/analytics/analytics.service.js';
import { contextOf } from '../billing/fixtures.js';
import { createPayer, type Payer, recordOf } from '../metering/support.js';
import { call, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { HOUR_MS } from './support.js';

/** Noon of a Tuesday in UTC, one in the morning of Wednesday in Auckland. */
const NOON = Date.UTC(2026, 11, 1, 12);

describe('the series of usage', () => {
  const suite = usePlatform();
  const analytics = createAnalyticsService();
  let payer: Payer;
  beforeEach(async () => {
    payer = await createPayer(suite.db.pool);
  });

  const flush = (...changes: Partial<UsageRecord>[]) =>
    flushBatch(
      suite.db.pool,
      changes.map((change) => recordOf(payer, change)),
    );
  const read = async (
    unit: 'hour' | 'day',
    timeZone: string,
    windowDays = 1,
    keyId: string | null = null,
  ) => {
    const context = contextOf(suite.db, payer.accountId, () => NOON);
    const input = { window_days: windowDays, unit, time_zone: timeZone, key_id: keyId };
    const points = await analytics.series(context, input);
    return points.map(({ start, model_public_name, requests }) => [start, model_public_name, requests]);
  };

  test('counts hours and days of a time zone separately, by model', async () => {
    await flush(
      { createdAt: NOON - 13 * HOUR_MS },
      { createdAt: NOON - 2 * HOUR_MS + 59 * 60_000 },
      { createdAt: NOON - HOUR_MS, servedModel: 'gateway/qwen-pro' },
      { createdAt: NOON - HOUR_MS, status: 'error', errorCode: 'upstream_error', cost: 0n },
    );
    expect(await read('day', 'UTC')).toEqual([
      ['2026-12-01', 'gateway/fast', 2],
      ['2026-12-01', 'gateway/qwen-pro', 1],
    ]);
    expect(await read('hour', 'UTC')).toEqual([
      ['2026-12-01T10:00', 'gateway/fast', 1],
      ['2026-12-01T11:00', 'gateway/fast', 1],
      ['2026-12-01T11:00', 'gateway/qwen-pro', 1],
    ]);
    // Five and a half hours ahead.
    expect(await read('hour', 'Asia/Kolkata')).toEqual([
      ['2026-12-01T04:30', 'gateway/fast', 1],
      ['2026-12-01T15:30', 'gateway/fast', 1],
      ['2026-12-01T16:30', 'gateway/fast', 1],
      ['2026-12-01T16:30', 'gateway/qwen-pro', 1],
    ]);
    // 13 hours ahead: their day began at 11:00 UTC.
    expect(await read('day', 'Pacific/Auckland', 2)).toEqual([
      ['2026-12-01', 'gateway/fast', 2],
      ['2026-12-02', 'gateway/fast', 1],
      ['2026-12-02', 'gateway/qwen-pro', 1],
    ]);
    expect(await read('day', 'Pacific/Auckland')).toEqual([
      ['2026-12-02', 'gateway/fast', 1],
      ['2026-12-02', 'gateway/qwen-pro', 1],
    ]);
  });

  test('covers one key if it is named, and nobody else’s calls', async () => {
    await flush({ createdAt: NOON }, { createdAt: NOON, keyId: null });
    expect(await read('day', 'UTC', 1, payer.keyId)).toEqual([['2026-12-01', 'gateway/fast', 1]]);
    const stranger = await createPayer(suite.db.pool);
    expect(await read('day', 'UTC', 1, stranger.keyId)).toEqual([]);
  });

  test('returns tokens, errors and exact cost over REST, and refuses an unknown time zone', async () => {
    const { token, user } = await signUp(suite.url);
    const records = [
      {},
      { status: 'error', errorCode: 'upstream_error', cost: 0n, outputTokens: 0 } as const,
    ];
    await flushBatch(
      suite.db.pool,
      records.map((changes) =>
        recordOf({ ...payer, accountId: user.id }, { createdAt: Date.now(), ...changes }),
      ),
    );
    const answer = await call(suite.url, 'GET', '/api/usage/series?window_days=2', { token });
    expect(answer.body).toEqual([
      {
        start: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        model_public_name: 'gateway/fast',
        requests: 2,
        errors: 1,
        tokens_in: 2_000,
        tokens_out: 500,
        cost_usd: '0.000250',
      },
    ]);
    for (const zone of ['Europe/Atlantis', "UTC'--", '%2B01:00', '']) {
      const refused = await call(suite.url, 'GET', `/api/usage/series?time_zone=${zone}`, { token });
      expect([zone, refused.status]).toEqual([zone, 422]);
    }
  });
});
