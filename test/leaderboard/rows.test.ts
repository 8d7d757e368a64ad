import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type {
  LeaderboardOutput,
  LeaderboardRowOutput,
} from '../../src/services/leaderboard/leaderboard.outputs.js';
import { rollUpAt } from '../analytics/support.js';
import { operate } from '../graphql/support.js';
import { someCalls, textOf } from '../pages/support.js';
import { call, type ErrorAnswer } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { callModel, NOW, UNAVAILABLE } from './support.js';

describe('rows of the leaderboard', () => {
  const suite = usePlatform({ own: true, clock: { now: () => NOW } });
  const get = <T>(path: string, headers = {}) => call<T>(suite.url, 'GET', path, { headers });
  beforeAll(async () => {
    await someCalls(suite.db);
    // Two that the figures don't distinguish, and one that is expensive and slow.
    for (const [model, count] of [
      ['gateway/qwen-fast', 130],
      ['gateway/deepseek-code', 400],
    ] as const) {
      await callModel(suite.db, model, count);
      await callModel(suite.db, model, count / 10, { latencyMs: 3_000 });
    }
    await callModel(suite.db, 'gateway/deepseek-reason', 100, UNAVAILABLE);
    await rollUpAt(suite.db, NOW);
  });

  test('contain the counts and sketches behind the figures', async () => {
    const { status, headers, body } = await get<LeaderboardRowOutput>('/api/leaderboard/gateway/fast/row');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      model_public_name: 'gateway/fast',
      window_days: 7,
      successes: 1_190,
      errors: 44,
      tokens_in: 1_234_000,
      ttft_ms: [],
    });
    // 1,190 calls of 20 to 69 ms, in turns; below 99 ms a bucket is a millisecond.
    expect(body.latency_ms).toEqual(
      Array.from({ length: 50 }, (_, i) => ({ value: 20 + i, count: i < 40 ? 24 : 23 })),
    );
    const again = await get('/api/leaderboard/gateway/fast/row', { 'if-none-match': headers.get('etag') });
    expect(again.status).toBe(304);
    const { data } = await operate<{ leaderboardRow: object }>(
      suite.url,
      '{ leaderboardRow(name: "fast") { successes latencyMs { value count } } }',
    ).then((answer) => answer.body);
    expect(data!.leaderboardRow).toEqual({ successes: 1_190, latencyMs: body.latency_ms });
    expect((await get<ErrorAnswer>('/api/leaderboard/gateway/none/row')).status).toBe(404);
    expect((await get<ErrorAnswer>('/api/leaderboard/gateway/fast/row?window_days=8')).status).toBe(422);
  });

  test('are enough for the script in docs/ to compute ranks, scores and percentiles', async () => {
    const { body } = await get<LeaderboardOutput>('/api/leaderboard');
    expect(body.entries).toHaveLength(5);
    expect(body.entries.filter(({ rank_tied }) => rank_tied).length).toBeGreaterThan(0);
    // Short enough to be read before it is run.
    expect(readFileSync('docs/leaderboard.mjs', 'utf8').trim().split('\n').length).toBeLessThanOrEqual(32);
    const { stdout } = await promisify(execFile)(process.execPath, ['docs/leaderboard.mjs', suite.url]);
    const computed = stdout.split('\n').slice(0, -1);
    expect(computed).toEqual(
      body.entries.map((entry) =>
        [
          entry.rank,
          entry.model_public_name,
          entry.ranking_score!.toFixed(6),
          // Absent without a successful call.
          entry.p50_latency_ms || null,
          entry.p95_latency_ms || null,
        ].join('\t'),
      ),
    );
  });
});

describe('a model without a successful call', () => {
  const suite = usePlatform({ own: true, clock: { now: () => NOW } });
  const names = async (sort: string): Promise<string[]> => {
    const { body } = await call<LeaderboardOutput>(suite.url, 'GET', `/api/leaderboard?sort_by=${sort}`);
    return body.entries.map(({ model_public_name }) => model_public_name);
  };

  test('is the slowest, and no page shows a latency for it', async () => {
    await callModel(suite.db, 'gateway/qwen-fast', 100, UNAVAILABLE);
    await callModel(suite.db, 'gateway/fast', 100);
    await callModel(suite.db, 'gateway/qwen-pro', 100, { latencyMs: 900 });
    await rollUpAt(suite.db, NOW);
    expect(await names('p95_latency')).toEqual(['gateway/fast', 'gateway/qwen-pro', 'gateway/qwen-fast']);
    expect(await names('ranking_score')).toEqual(['gateway/fast', 'gateway/qwen-pro', 'gateway/qwen-fast']);
    const page = textOf(await (await fetch(`${suite.url}/leaderboard/qwen-fast`)).text());
    expect(page).toContain('Latency, p95 – Latency, median –');
    for (const path of ['/leaderboard', '/']) {
      expect(textOf(await (await fetch(suite.url + path)).text())).not.toMatch(/\b0 ms/);
    }
  });
});

describe('rows of the leaderboard of a production', () => {
  const suite = usePlatform({ own: true, clock: { now: () => NOW }, env: { LEADERBOARD_MIN_ACCOUNTS: '3' } });

  test('contain nothing about a model that too few accounts use', async () => {
    await someCalls(suite.db);
    const { body } = await call<LeaderboardRowOutput>(suite.url, 'GET', '/api/leaderboard/gateway/fast/row');
    expect(body).toMatchObject({ successes: 0, errors: 0, tokens_in: 0, latency_ms: [], output_tokens: [] });
  });
});
