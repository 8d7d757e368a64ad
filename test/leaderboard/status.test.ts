import { flushBatch } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import type {
  LeaderboardModelOutput,
  LeaderboardOutput,
} from '../../src/services/leaderboard/leaderboard.outputs.js';
import type { StatusOutput } from '../../src/services/leaderboard/status.outputs.js';
import { rollUpAt } from '../analytics/support.js';
import { operate } from '../graphql/support.js';
import { createPayer, recordOf } from '../metering/support.js';
import { call } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';
import { callModel, FAILED, LEFT, NOW, REFUSED } from './support.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

describe('the status of the models', () => {
  const suite = usePlatform({
    own: true /* it counts every account, at a time of its own */,
    clock: { now: () => NOW },
    env: { LEADERBOARD_MIN_ACCOUNTS: '2' },
  });

  /** Calls of two accounts in turn. */
  async function calls(model: string, at: number, count: number, changes: Partial<UsageRecord> = {}) {
    const payers = [await createPayer(suite.db.pool), await createPayer(suite.db.pool)];
    await flushBatch(
      suite.db.pool,
      Array.from({ length: count }, (_, i) =>
        recordOf(payers[i % 2]!, {
          createdAt: at + i,
          servedModel: model,
          requestedModel: model,
          latencyMs: 40,
          ...changes,
        }),
      ),
    );
  }
  const read = async () => (await call<StatusOutput>(suite.url, 'GET', '/api/status')).body;
  const modelOf = (status: StatusOutput, name: string) =>
    status.models.find(({ model_public_name }) => model_public_name === name)!;

  beforeAll(async () => {
    const hour = (ago: number): number => Date.UTC(2026, 10, 21, 12) - ago * HOUR_MS;
    await calls('gateway/fast', hour(1), 30);
    await calls('gateway/fast', hour(1), 4, FAILED);
    await calls('gateway/fast', hour(2), 40, FAILED);
    await calls('gateway/fast', hour(30), 40, FAILED);
    // Too few calls for an incident.
    await calls('gateway/qwen-pro', hour(3), 18, FAILED);
    await calls('gateway/qwen-pro', hour(4), 82);
    // Nobody's fault but their callers': no incident, and nothing that the rates count.
    await calls('gateway/qwen-pro', hour(4), 50, LEFT);
    await calls('gateway/deepseek-reason', hour(5), 50, LEFT);
    await calls('gateway/deepseek-reason', hour(5), 30, REFUSED);
    // But a model that hangs is one that many have left, after a while.
    await calls('gateway/deepseek-code', hour(6), 40, { ...LEFT, latencyMs: 30_000 });
    await calls('gateway/qwen-pro', hour(4) - 89 * DAY_MS, 2);
    await calls('gateway/qwen-pro', hour(4) - 90 * DAY_MS, 2);
    await rollUpAt(suite.db, NOW);
    await until(async () => modelOf(await read(), 'gateway/fast').state === 'degraded', {
      what: 'the roll-ups to be noticed',
    });
  });

  test('has 90 days of each model, oldest first, with rates and percentiles of its calls', async () => {
    const status = await read();
    const { days, ...fast } = modelOf(status, 'gateway/fast');
    expect(fast).toMatchObject({ state: 'degraded', success_rate: 30 / 114 });
    expect(days.map(({ date }) => date)).toEqual(
      Array.from({ length: 90 }, (_, i) => new Date(NOW - (89 - i) * DAY_MS).toISOString().slice(0, 10)),
    );
    expect(days.at(-1)).toEqual({
      date: '2026-11-21',
      requests: 74,
      success_rate: 30 / 74,
      p95_latency_ms: 40,
    });
    expect(days.at(-2)).toEqual({
      date: '2026-11-20',
      requests: 40,
      success_rate: 0,
      p95_latency_ms: null,
    });
    expect(days[0]).toEqual({ date: '2026-08-24', requests: 0, success_rate: null, p95_latency_ms: null });
    // The day before the window is no part of it.
    const pro = modelOf(status, 'gateway/qwen-pro');
    expect([pro.state, pro.success_rate, pro.days[0]!.requests]).toEqual(['operational', 84 / 102, 2]);
    expect(modelOf(status, 'gateway/embed')).toMatchObject({ state: 'no_data', success_rate: null });
  });

  test('leaves out calls that clients left early, and bad requests, which usage and leaderboard count as errors', async () => {
    const status = await read();
    expect(modelOf(status, 'gateway/qwen-pro').days.at(-1)).toMatchObject({
      requests: 100,
      success_rate: 82 / 100,
    });
    expect(modelOf(status, 'gateway/deepseek-reason')).toMatchObject({
      state: 'no_data',
      success_rate: null,
    });
    const { body } = await call<LeaderboardModelOutput>(
      suite.url,
      'GET',
      '/api/leaderboard/gateway/deepseek-reason',
    );
    expect([body.requests, body.success_rate]).toEqual([80, 0]);
  });

  test('merges consecutive bad hours into incidents, newest first', async () => {
    expect((await read()).incidents).toEqual([
      {
        model_public_name: 'gateway/fast',
        started_at: '2026-11-21T10:00:00.000000Z',
        ended_at: '2026-11-21T12:00:00.000000Z',
        requests: 74,
        errors: 44,
      },
      {
        model_public_name: 'gateway/deepseek-code',
        started_at: '2026-11-21T06:00:00.000000Z',
        ended_at: '2026-11-21T07:00:00.000000Z',
        requests: 40,
        errors: 40,
      },
      {
        model_public_name: 'gateway/fast',
        started_at: '2026-11-20T06:00:00.000000Z',
        ended_at: '2026-11-20T07:00:00.000000Z',
        requests: 40,
        errors: 40,
      },
    ]);
  });

  test('hides days and hours with a single account', async () => {
    const payer = await createPayer(suite.db.pool);
    const at = NOW - 5 * DAY_MS;
    await flushBatch(
      suite.db.pool,
      Array.from({ length: 40 }, (_, i) =>
        recordOf(payer, { createdAt: at + i, servedModel: 'gateway/qwen-fast', ...FAILED }),
      ),
    );
    await calls('gateway/deepseek-code', at, 2);
    await rollUpAt(suite.db, NOW);
    const status = await until(async () => {
      const seen = await read();
      return modelOf(seen, 'gateway/deepseek-code').success_rate === null ? undefined : seen;
    });
    expect(modelOf(status, 'gateway/qwen-fast').success_rate).toBeNull();
    expect(status.incidents).toHaveLength(3);
  });

  test('is the same over GraphQL, and on a page without scripts', async () => {
    const status = await read();
    const { body } = await operate<{ status: { models: object[]; incidents: object[] } }>(
      suite.url,
      '{ status { models { modelPublicName state successRate } incidents { errors } } }',
    );
    expect(body.data!.status.incidents).toEqual(status.incidents.map(({ errors }) => ({ errors })));
    expect(body.data!.status.models[0]).toEqual({
      modelPublicName: status.models[0]!.model_public_name,
      state: status.models[0]!.state.toUpperCase(),
      successRate: status.models[0]!.success_rate,
    });
    const page = await call(suite.url, 'GET', '/status', { headers: { accept: 'text/html' } });
    expect(page.status).toBe(200);
    expect(page.text).toContain('Degraded: <a href="/leaderboard/fast">gateway/fast</a>.');
    expect(page.text).toContain('26.32% of calls succeeded');
    expect(page.text).toContain('<td class="figures">59.46%</td>');
  });

  test('may be cached, and answers 304 if the caller has the current version', async () => {
    const { headers } = await call(suite.url, 'GET', '/api/status');
    expect(headers.get('cache-control')).toBe('public, max-age=300');
    const again = await call(suite.url, 'GET', '/api/status', {
      headers: { 'if-none-match': headers.get('etag')! },
    });
    expect([again.status, again.text]).toEqual([304, '']);
  });
});

describe('the status of the models while roll-ups are stuck', () => {
  let now = NOW;
  const suite = usePlatform({ own: true, clock: { now: () => now } });
  const read = async () => {
    const { body } = await call<StatusOutput>(suite.url, 'GET', '/api/status');
    const { state } = body.models.find(({ model_public_name: name }) => name === 'gateway/fast')!;
    return [state, body.is_late, body.generated_at];
  };
  /** What the leaderboard and its pages say of their age. */
  const dated = async () => {
    const { body } = await call<LeaderboardOutput>(suite.url, 'GET', '/api/leaderboard');
    const pages = ['/', '/leaderboard', '/leaderboard/fast'].map(async (path) => {
      const { text } = await call(suite.url, 'GET', path, { headers: { accept: 'text/html' } });
      return /As of <time datetime="([^"]+)"/.exec(text)?.[1];
    });
    const all = new Set([body.generated_at, ...(await Promise.all(pages))]);
    return [...all];
  };

  test('is unknown, and shows since when, as the leaderboard does', async () => {
    await callModel(suite.db, 'gateway/fast', 100);
    await rollUpAt(suite.db, now);
    expect(await read()).toEqual(['operational', false, '2026-11-21T12:30:00.000000Z']);

    await callModel(suite.db, 'gateway/fast', 100, { ...FAILED, createdAt: NOW });
    now += HOUR_MS;
    // Roll-ups take a while.
    expect(await read()).toEqual(['operational', false, '2026-11-21T13:30:00.000000Z']);
    expect(await dated()).toEqual(['2026-11-21T13:30:00.000000Z']);
    now += 2 * HOUR_MS;
    expect(await read()).toEqual(['no_data', true, '2026-11-21T12:00:00.000000Z']);
    expect(await dated()).toEqual(['2026-11-21T12:00:00.000000Z']);
    const page = await call(suite.url, 'GET', '/status', { headers: { accept: 'text/html' } });
    expect(page.text).toContain('The figures are late');

    // A few late calls to an hour that was rolled up before are no such thing.
    await rollUpAt(suite.db, now);
    await callModel(suite.db, 'gateway/fast', 1);
    const caughtUp = await until(
      async () => {
        const seen = await read();
        return seen[1] ? undefined : seen;
      },
      { what: 'the roll-up to arrive' },
    );
    expect(caughtUp).toEqual(['operational', false, '2026-11-21T15:30:00.000000Z']);
  });
});
