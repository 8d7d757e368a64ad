import { flushBatch } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import type {
  LeaderboardModelOutput,
  LeaderboardOutput,
} from '../../src/services/leaderboard/leaderboard.outputs.js';
import { rollUpAt } from '../analytics/support.js';
import { operate } from '../graphql/support.js';
import { createPayer, recordOf } from '../metering/support.js';
import { signUpAdmin } from '../support/admin.js';
import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';
import { callModel, callsInEveryOrder, FAILED, LAST_HOUR, NOW, ORDERS, UNAVAILABLE } from './support.js';

const HOUR_MS = 3_600_000;

describe('the leaderboard', () => {
  let now = NOW;
  // It counts every account of the database, at a time of its own.
  const suite = usePlatform({ own: true, clock: { now: () => now } });
  const get = <T = LeaderboardOutput>(path = '/api/leaderboard', headers = {}) =>
    call<T>(suite.url, 'GET', path, { headers });

  const calls = (model: string, count: number, changes: Partial<UsageRecord> = {}): Promise<void> =>
    callModel(suite.db, model, count, changes);
  const rollUp = () => rollUpAt(suite.db, now);

  beforeAll(async () => {
    await calls('gateway/fast', 90);
    await calls('gateway/fast', 7, FAILED);
    await calls('gateway/fast', 3, UNAVAILABLE);
    await calls('gateway/fast', 5, { clientAborted: true, stream: true });
    await calls('gateway/fast', 5, { outputTokens: 0 });
    await calls('gateway/qwen-pro', 100, { latencyMs: 900, stream: true, ttftMs: 40 });
    await calls('gateway/qwen-pro', 20, { requestedModel: 'gateway/deepseek-code', latencyMs: 900 });
    // A guard moved these to another model, which served all of them but the last five.
    const moved = { requestedModel: 'gateway/qwen-fast', movedTo: 'gateway/deepseek-reason' };
    await calls('gateway/deepseek-reason', 15, moved);
    await calls('gateway/gone', 5, moved);
    await calls('gateway/embed', 99, { endpoint: 'embeddings', outputTokens: 0 });
    await calls('gateway/gone', 200);
    await rollUp();
  });

  test('ranks models with 100 calls, by the documented counts, and names the others', async () => {
    const { status, headers, body } = await get();
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
    expect(body).toMatchObject({
      window_days: 7,
      total_entries: 2,
      generated_at: '2026-11-21T12:30:00.000000Z',
      insufficient_data_models: [
        'gateway/qwen-fast',
        'gateway/deepseek-code',
        'gateway/deepseek-reason',
        'gateway/embed',
      ],
    });
    expect(body.entries).toEqual([
      expect.objectContaining({
        model_public_name: 'gateway/fast',
        family: 'gemma',
        context_window: 8192,
        is_featured: true,
        requests: 100,
        success_rate: 0.9,
        error_rate: 0.1,
        rate_limited_share: 0.03,
        p50_latency_ms: 42,
        p95_latency_ms: 65,
        p50_ttft_ms: null,
        median_tokens_out: expect.any(Number),
        total_tokens_in: 110_000,
        total_cost_usd: '0.024250',
        output_price_per_million_usd: '0.300000',
        // 0.4·0 + 0.3·1 + 0.3·1.
        ranking_score: 0.6,
        rank: 1,
        one_account_dominates: true,
      }),
      expect.objectContaining({
        model_public_name: 'gateway/qwen-pro',
        requests: 120,
        success_rate: 1,
        p50_ttft_ms: 40,
        ranking_score: 0.4,
        rank: 2,
        rank_tied: false,
      }),
    ]);
    const [fast] = body.entries;
    expect(fast!.success_rate_low).toBeCloseTo(0.8256, 4);
    expect(fast!.success_rate_high).toBeCloseTo(0.9448, 4);
  });

  test('counts a fallback as an error of the requested model', async () => {
    const { body } = await get<LeaderboardModelOutput>('/api/leaderboard/gateway/deepseek-code');
    expect(body).toMatchObject({ requests: 20, success_rate: 0, error_rate: 1, insufficient_data: true });
    expect([body.ranking_score, body.rank, body.total_cost_usd]).toEqual([null, null, '0.000000']);
  });

  test('counts calls that a guard moved to another model for that model', async () => {
    const { body: asked } = await get<LeaderboardModelOutput>('/api/leaderboard/gateway/qwen-fast');
    expect([asked.requests, asked.success_rate]).toEqual([0, 0]);
    const { body: moved } = await get<LeaderboardModelOutput>('/api/leaderboard/gateway/deepseek-reason');
    expect([moved.requests, moved.success_rate, moved.error_rate]).toEqual([20, 0.75, 0.25]);
  });

  test('gives a model its last 168 hours, oldest first, under either name', async () => {
    const { status, body } = await get<LeaderboardModelOutput>('/api/leaderboard/gateway/fast');
    expect([status, body.ranking_score, body.insufficient_data]).toEqual([200, 0.6, false]);
    expect(body.hourly_breakdown).toHaveLength(168);
    expect(body.hourly_breakdown[0]!.hour).toBe('2026-11-14T13:00:00.000000Z');
    expect(body.hourly_breakdown.at(-2)).toEqual({
      hour: '2026-11-21T11:00:00.000000Z',
      requests: 100,
      errors: 10,
      p50_latency_ms: 42,
      p95_latency_ms: 65,
      tokens_in: 110_000,
      tokens_out: expect.any(Number),
    });
    expect(body.hourly_breakdown.filter(({ requests }) => requests > 0)).toHaveLength(1);
    for (const path of ['fast', 'gateway%2Ffast'])
      expect((await get<LeaderboardModelOutput>(`/api/leaderboard/${path}`)).body).toEqual(body);
    const { body: answer } = await operate<{
      leaderboardModel: { requests: number; hourlyBreakdown: unknown[] };
    }>(suite.url, '{ leaderboardModel(name: "fast") { requests hourlyBreakdown { hour requests } } }');
    expect(answer.data!.leaderboardModel.requests).toBe(100);
    expect(answer.data!.leaderboardModel.hourlyBreakdown).toHaveLength(168);
  });

  test.each([
    '/api/leaderboard/gateway/none',
    '/api/leaderboard/gateway/gone',
    '/api/leaderboard/other/fast',
  ])('has no %s', async (path) => expect((await get<ErrorAnswer>(path)).status).toBe(404));

  test.each(['window_days=8', 'window_days=x', 'sort_by=name', 'limit=1'])('refuses %s', async (query) => {
    const { status, body, headers } = await get<ErrorAnswer>(`/api/leaderboard?${query}`);
    expect([status, body.error.code]).toEqual([422, 'validation_error']);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('answers 304 if the caller has the current version', async () => {
    const { headers } = await get();
    const again = await get('/api/leaderboard', { 'if-none-match': `"other", ${headers.get('etag')}` });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', headers.get('etag')]);
    expect((await get('/api/leaderboard', { 'if-none-match': '"other"' })).status).toBe(200);
  });

  test('is kept for five minutes, and read again after a roll-up and on demand', async () => {
    const before = (await get()).body;
    await calls('gateway/qwen-fast', 150, { createdAt: LAST_HOUR - HOUR_MS });
    now += 60_000;
    expect((await get()).body).toEqual(before);
    await rollUp();
    await until(async () => (await get()).body.total_entries === 3, { what: 'the roll-up to arrive' });

    await calls('gateway/deepseek-reason', 100, { createdAt: NOW });
    const user = await signUp(suite.url);
    const admin = await signUpAdmin(suite);
    const recompute = (token: string) =>
      call<{ hours: number }>(suite.url, 'POST', '/api/admin/leaderboard/recompute', { token });
    expect((await recompute(user.token)).status).toBe(403);
    const { status, body } = await recompute(admin.token);
    expect([status, body.hours]).toEqual([200, 1]);
    expect((await get()).body.total_entries).toBe(4);
    const together = await Promise.all(Array.from({ length: 6 }, () => recompute(admin.token)));
    expect(together.map((answer) => answer.status)).toEqual(together.map(() => 200));
  });

  test('shows an administrator’s choice of featured models at once', async () => {
    const admin = await signUpAdmin(suite);
    const user = await signUp(suite.url);
    const feature = (path: string, token = admin.token) =>
      call<{ is_featured: boolean }>(suite.url, 'PATCH', `/api/admin/models/${path}`, {
        token,
        body: { is_featured: false },
      });
    expect((await feature('gateway/fast', user.token)).status).toBe(403);
    expect((await feature('gateway/none')).status).toBe(404);
    const { status, body } = await feature('gateway/fast');
    expect([status, body.is_featured]).toEqual([200, false]);
    const entries = (await get()).body.entries;
    expect(entries.find((entry) => entry.model_public_name === 'gateway/fast')!.is_featured).toBe(false);
  });

  test('is rolled up again to the same figures, however often', async () => {
    const hours = async () =>
      (await suite.db.pool.query('select * from model_hours order by hour, model')).rows;
    const before = await hours();
    await suite.db.pool.query('insert into rollup_dirty select distinct hour from usage_rollups');
    expect(await rollUp()).toBeGreaterThan(0);
    expect(await hours()).toEqual(before);
  });
});

describe('the leaderboard of models that are first in different orders', () => {
  const suite = usePlatform({ own: true, clock: { now: () => NOW } });
  beforeAll(async () => {
    await callsInEveryOrder(suite.db);
    await rollUpAt(suite.db, NOW);
  });

  test.each(Object.entries(ORDERS))('orders by %s, over REST and GraphQL alike', async (sort, names) => {
    const { body } = await call<LeaderboardOutput>(
      suite.url,
      'GET',
      `/api/leaderboard?sort_by=${sort}&window_days=30`,
    );
    expect(body.entries.map((entry) => entry.model_public_name)).toEqual(
      names.map((name) => `gateway/${name}`),
    );
    const answer = await operate<{
      leaderboard: { entries: { modelPublicName: string; rankingScore: number }[] };
    }>(
      suite.url,
      `{ leaderboard(windowDays: 30, sortBy: ${sort.toUpperCase()}) { entries { modelPublicName rankingScore } } }`,
    );
    expect(answer.body.data!.leaderboard.entries).toEqual(
      body.entries.map((entry) => ({
        modelPublicName: entry.model_public_name,
        rankingScore: entry.ranking_score,
      })),
    );
  });
});

describe('the leaderboard of a production', () => {
  const suite = usePlatform({
    own: true,
    clock: { now: () => NOW },
    env: { LEADERBOARD_MIN_ACCOUNTS: '2' },
  });

  test('shows nothing about a model that too few accounts use', async () => {
    const [ada, bob] = [await createPayer(suite.db.pool), await createPayer(suite.db.pool)];
    const by = (payer: typeof ada, model: string, count: number) =>
      Array.from({ length: count }, (_, i) =>
        recordOf(payer, { createdAt: LAST_HOUR + i, servedModel: model, requestedModel: model }),
      );
    await flushBatch(suite.db.pool, [
      ...by(ada, 'gateway/fast', 200),
      ...by(ada, 'gateway/qwen-pro', 60),
      ...by(bob, 'gateway/qwen-pro', 60),
    ]);
    await rollUpAt(suite.db, NOW);
    const { body } = await call<LeaderboardOutput>(suite.url, 'GET', '/api/leaderboard');
    expect(body.entries.map((entry) => [entry.model_public_name, entry.one_account_dominates])).toEqual([
      ['gateway/qwen-pro', false],
    ]);
    expect(body.insufficient_data_models).toContain('gateway/fast');
    const fast = await call<LeaderboardModelOutput>(suite.url, 'GET', '/api/leaderboard/gateway/fast');
    expect(fast.status).toBe(200);
    expect([fast.body.requests, fast.body.total_tokens_in, fast.body.total_cost_usd]).toEqual([
      0,
      0,
      '0.000000',
    ]);
    expect(fast.body.hourly_breakdown.every(({ requests }) => requests === 0)).toBe(true);
  });
});
