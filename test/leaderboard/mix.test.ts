import { flushBatch } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import type { LeaderboardMixOutput, MixEntryOutput } from '../../src/services/leaderboard/mix.outputs.js';
import { rollUpAt } from '../analytics/support.js';
import { operate } from '../graphql/support.js';
import { createPayer, recordOf } from '../metering/support.js';
import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { NOW } from './support.js';

const LAST_HOUR = Date.UTC(2026, 10, 21, 11);

describe.each([
  ['where one account is enough', {}],
  ['where two accounts are needed', { LEADERBOARD_MIN_ACCOUNTS: '2' }],
])('the leaderboard for one’s own usage %s', (_name, env) => {
  const least = 'LEADERBOARD_MIN_ACCOUNTS' in env ? 2 : 1;
  const suite = usePlatform({ own: true, clock: { now: () => NOW }, env });
  let viewer: Awaited<ReturnType<typeof signUp>>;
  let stranger: Awaited<ReturnType<typeof signUp>>;
  let loner: Awaited<ReturnType<typeof signUp>>;

  async function calls(
    accountId: string,
    model: string,
    count: number,
    changes: Partial<UsageRecord>,
  ): Promise<void> {
    const payer = { ...(await createPayer(suite.db.pool)), accountId };
    const records = Array.from({ length: count }, (_, i) =>
      recordOf(payer, { createdAt: LAST_HOUR + i, servedModel: model, requestedModel: model, ...changes }),
    );
    await flushBatch(suite.db.pool, records);
  }
  const ask = async (token: string, days = 7): Promise<LeaderboardMixOutput> => {
    const { status, headers, body } = await call<LeaderboardMixOutput>(
      suite.url,
      'GET',
      `/api/leaderboard/mine?window_days=${days}`,
      { token },
    );
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    return body;
  };
  const entryOf = ({ entries }: LeaderboardMixOutput, model: string): MixEntryOutput =>
    entries.find((entry) => entry.model_public_name === `gateway/${model}`)!;

  beforeAll(async () => {
    viewer = await signUp(suite.url);
    stranger = await signUp(suite.url);
    const mine = viewer.user.id;
    const [bob, eve] = [
      (await createPayer(suite.db.pool)).accountId,
      (await createPayer(suite.db.pool)).accountId,
    ];
    // Short answers come from `fast` quickly and long ones slowly; with `qwen-pro` it is the other way round.
    const SHORT = { inputTokens: 900, outputTokens: 50 };
    const LONG = { inputTokens: 100, outputTokens: 1_000 };
    await calls(mine, 'gateway/fast', 90, { ...SHORT, latencyMs: 50 });
    await calls(mine, 'gateway/fast', 10, { ...LONG, latencyMs: 80 });
    for (const other of [bob, eve]) {
      await calls(other, 'gateway/fast', 60, { ...SHORT, latencyMs: 40 });
      await calls(other, 'gateway/fast', 600, { ...LONG, latencyMs: 98 });
      await calls(other, 'gateway/qwen-pro', 100, { ...SHORT, latencyMs: 90 });
      await calls(other, 'gateway/qwen-pro', 100, { ...LONG, latencyMs: 30 });
    }
    // One account alone has answers of this length.
    loner = await signUp(suite.url);
    await calls(loner.user.id, 'gateway/fast', 10, { inputTokens: 10, outputTokens: 200, latencyMs: 60 });
    await calls(mine, 'gateway/embed', 7, { endpoint: 'embeddings', outputTokens: 0, latencyMs: 9 });
    await calls(mine, 'gateway/fast', 5, { ...SHORT, latencyMs: 99, clientAborted: true, stream: true });
    await rollUpAt(suite.db, NOW);
  });

  test('compares with all accounts for answers of the same lengths', async () => {
    const answer = await ask(viewer.token);
    expect(answer).toMatchObject({ window_days: 7, generated_at: '2026-11-21T12:30:00.000000Z' });
    expect(answer.mix).toEqual({
      requests: 100,
      input_tokens: 82_000,
      output_tokens: 14_500,
      bands: [
        { from_output_tokens: 0, to_output_tokens: 99, share: 0.9 },
        { from_output_tokens: 500, to_output_tokens: 1_999, share: 0.1 },
      ],
    });
    const fast = entryOf(answer, 'fast');
    expect(fast.bands).toEqual([
      {
        from_output_tokens: 0,
        to_output_tokens: 99,
        requests: 90,
        p95_latency_ms: 50,
        everyone_p95_latency_ms: 50,
      },
      {
        from_output_tokens: 500,
        to_output_tokens: 1_999,
        requests: 10,
        p95_latency_ms: 80,
        everyone_p95_latency_ms: 98,
      },
    ]);
    // 10 of my 100 answers are long, and so 10 % of everyone's count as long: the 95th percentile is among them.
    expect([fast.requests, fast.p95_latency_ms, fast.everyone_p95_latency_ms]).toEqual([100, 80, 98]);
    const embed = entryOf(answer, 'embed');
    expect([embed.requests, embed.p95_latency_ms, embed.rank]).toEqual([7, 9, null]);
    expect(embed.mix_price_per_million_usd).toBeNull();
    expect(embed.everyone_p95_latency_ms).toBe(least === 1 ? 9 : null);
    expect(entryOf(answer, 'qwen-pro')).toMatchObject({ requests: 0, p95_latency_ms: null, bands: [] });
  });

  test('ranks chat models by the prices and latencies of one’s own mix', async () => {
    const { entries } = await ask(viewer.token);
    const [first, second, ...rest] = entries;
    // Both always succeed; `fast` is the cheaper one, `qwen-pro` (90 ms for 9 of 10) the quicker one at the 95th percentile.
    expect([first!.model_public_name, first!.rank, first!.ranking_score]).toEqual(['gateway/fast', 1, 0.7]);
    expect([second!.model_public_name, second!.mix_p95_latency_ms]).toEqual(['gateway/qwen-pro', 90]);
    expect(second!.ranking_score).toBe(0.7);
    expect([first!.rank_tied, second!.rank, second!.rank_tied]).toEqual([true, 1, true]);
    expect(rest.map(({ rank }) => rank)).toEqual([null, null, null, null]);
    // (82,000 × 0.1 + 14,500 × 0.3) ÷ 96,500.
    expect(Number(first!.mix_price_per_million_usd)).toBeCloseTo(0.130052, 6);
    expect([first!.mix_coverage, second!.mix_coverage]).toEqual([1, 1]);
  });

  test('is the same over GraphQL, and no other account’s', async () => {
    const answer = await ask(viewer.token, 30);
    const fields = 'modelPublicName requests p95LatencyMs everyoneP95LatencyMs rank rankingScore';
    const { body } = await operate<{ viewer: { leaderboardMix: { entries: object[] } } }>(
      suite.url,
      `{ viewer { leaderboardMix(windowDays: 30) { entries { ${fields} } } } }`,
      { token: viewer.token },
    );
    expect(body.data!.viewer.leaderboardMix.entries).toEqual(
      answer.entries.map((entry) => ({
        modelPublicName: entry.model_public_name,
        requests: entry.requests,
        p95LatencyMs: entry.p95_latency_ms,
        everyoneP95LatencyMs: entry.everyone_p95_latency_ms,
        rank: entry.rank,
        rankingScore: entry.ranking_score,
      })),
    );
    const none = await ask(stranger.token);
    expect(none.mix).toEqual({ requests: 0, input_tokens: 0, output_tokens: 0, bands: [] });
    expect(none.entries).toHaveLength(answer.entries.length);
    for (const entry of none.entries)
      expect([entry.requests, entry.p95_latency_ms, entry.rank, entry.bands]).toEqual([0, null, null, []]);
  });

  test('shows nothing for lengths that too few accounts have', async () => {
    const answer = await ask(loner.token);
    const fast = entryOf(answer, 'fast');
    const everyone = least === 1 ? 60 : null;
    expect(fast.bands).toEqual([
      {
        from_output_tokens: 100,
        to_output_tokens: 499,
        requests: 10,
        p95_latency_ms: 60,
        everyone_p95_latency_ms: everyone,
      },
    ]);
    expect([fast.everyone_p95_latency_ms, fast.mix_p95_latency_ms]).toEqual([everyone, everyone]);
    expect([fast.rank, fast.mix_coverage]).toEqual(least === 1 ? [1, 1] : [null, 0]);
  });

  test('requires a session and one of two windows', async () => {
    const ofNobody = await call<ErrorAnswer>(suite.url, 'GET', '/api/leaderboard/mine');
    expect([ofNobody.status, ofNobody.body.error.code]).toEqual([401, 'unauthorized']);
    const wrong = await call<ErrorAnswer>(suite.url, 'GET', '/api/leaderboard/mine?window_days=8', {
      token: viewer.token,
    });
    expect(wrong.status).toBe(422);
  });
});
