import { costOf, DOLLAR, formatMoney, type Money } from '../../src/lib/money.js';
import { wilsonInterval } from '../../src/lib/wilson.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { DAY_MS, HOUR_MS, rollUpAt } from '../analytics/support.js';
import { recordOf } from '../metering/support.js';
import { call, signUp } from '../support/api.js';
import { createTestKey } from '../support/edge.js';
import fc from '../support/fast-check.js';
import { usePlatform } from '../support/platform-suite.js';
import { type Prompt, promptsApi, type Version } from './support.js';

interface Stats {
  requests: number;
  errors: number;
  error_rate_low: number;
  error_rate_high: number;
}
interface WhatIf {
  requests: number;
  input_tokens: number;
  output_tokens: number;
  actual_cost_usd: string;
  estimated_cost_usd: string;
  difference_usd: string;
}

describe('call statistics', () => {
  const suite = usePlatform();
  let token = '';
  let payer: { accountId: string; keyId: string };
  let prompt: Prompt;
  let second: Version;
  const api = promptsApi(
    () => suite.url,
    () => token,
  );
  beforeEach(async () => {
    const session = await signUp(suite.url);
    token = session.token;
    const { keyId } = await createTestKey(suite.db, { accountId: session.user.id });
    payer = { accountId: session.user.id, keyId };
    prompt = await api.create();
    second = await api.addVersion(prompt.id);
  });

  const failed: Partial<UsageRecord> = {
    ...{ status: 'error', errorCode: 'upstream_error', httpStatus: 502, cost: 0n },
    ...{ inputTokens: 0, outputTokens: 0 },
  };
  /** Calls that named a version, one after the other. */
  const book = async (version: string | null, calls: Partial<UsageRecord>[]): Promise<UsageRecord[]> => {
    const records = calls.map((one, n) =>
      recordOf(payer, { promptVersionId: version, createdAt: Date.now() - n, ...one }),
    );
    await flushBatch(suite.db.pool, records);
    return records;
  };
  const whatIf = async (query: string) =>
    call<WhatIf & { error?: { code: string } }>(suite.url, 'GET', `/api/analytics/what-if?${query}`, {
      token,
    });

  describe('about a version', () => {
    test('are counts, percentiles, tokens and exact cost of its own calls in the window', async () => {
      const first = prompt.active_version_id;
      const latencies = Array.from({ length: 20 }, (_, n) => ({ latencyMs: (n + 1) * 10 }));
      await book(first, latencies);
      await book(first, [{ ...failed, latencyMs: 5 }]);
      await book(second.id, [{ latencyMs: 9_999 }]);
      await book(null, [{ latencyMs: 9_999 }]);
      await book(first, [{ createdAt: Date.now() - 40 * DAY_MS }]);
      const path = `/${prompt.id}/versions/${first}/stats`;
      expect(await api.must(200, 'GET', path)).toEqual({
        version_id: first,
        version: 1,
        window_days: 30,
        requests: 21,
        errors: 1,
        error_rate: 1 / 21,
        error_rate_low: expect.closeTo(0.00846, 5),
        error_rate_high: expect.closeTo(0.22668, 4),
        p50_latency_ms: 100,
        p95_latency_ms: 190,
        input_tokens: 20_000,
        output_tokens: 10_000,
        cost_usd: '0.005000',
      });
      expect(await api.must<Stats>(200, 'GET', `${path}?window_days=90`)).toMatchObject({ requests: 22 });
      for (const days of ['0', '91', 'x']) {
        expect(await api.refused('GET', `${path}?window_days=${days}`)).toEqual([422, 'validation_error']);
      }
    });

    test('are the same before its hours are rolled up, afterwards, and when a call arrives late', async () => {
      const first = prompt.active_version_id;
      const hourAgo = Date.now() - HOUR_MS;
      await book(first, [{ createdAt: hourAgo }, { createdAt: hourAgo, servedModel: 'gateway/qwen-pro' }]);
      await book(first, [
        { createdAt: hourAgo, keyId: null, latencyMs: 9 },
        { ...failed, createdAt: hourAgo },
      ]);
      const stats = () => api.must<Stats>(200, 'GET', `/${prompt.id}/versions/${first}/stats`);
      const priced = async (more: string) =>
        (await whatIf(`model=gateway/qwen-pro&prompt_version_id=${first}${more}`)).body;
      const all = async () => [await stats(), await priced(''), await priced(`&key_id=${payer.keyId}`)];
      const before = await all();
      expect(before).toMatchObject([{ requests: 4, errors: 1 }, { requests: 3 }, { requests: 2 }]);
      await rollUpAt(suite.db, Date.now() + HOUR_MS);
      const { rows } = await suite.db.pool.query<{ n: number }>(
        'select sum(requests)::int as n from prompt_version_hours where version_id = $1',
        [first],
      );
      expect(rows).toEqual([{ n: 4 }]);
      expect(await all()).toEqual(before);
      await book(first, [{ createdAt: hourAgo }]);
      expect((await stats()).requests).toBe(5);
      await rollUpAt(suite.db, Date.now() + HOUR_MS);
      expect((await stats()).requests).toBe(5);
    });

    test('without calls are zeros, and any error rate is possible', async () => {
      expect(await api.must(200, 'GET', `/${prompt.slug}/versions/${second.id}/stats`)).toMatchObject({
        ...{ requests: 0, error_rate: 0, error_rate_low: 0, error_rate_high: 1, p95_latency_ms: 0 },
        cost_usd: '0.000000',
      });
    });

    test('compare two, and are inconclusive while their intervals overlap', async () => {
      const compare = () =>
        api.must<{ first: Stats; second: Stats; fewer_errors: string }>(
          200,
          'GET',
          `/${prompt.id}/compare?first=1&second=2`,
        );
      expect((await compare()).fewer_errors).toBe('inconclusive');
      await book(
        prompt.active_version_id,
        Array.from({ length: 10 }, () => ({})),
      );
      await book(
        second.id,
        Array.from({ length: 10 }, (_, n) => (n < 4 ? failed : {})),
      );
      const few = await compare();
      expect(few.first.error_rate_high).toBeGreaterThan(few.second.error_rate_low);
      expect(few.fewer_errors).toBe('inconclusive');
      await book(
        prompt.active_version_id,
        Array.from({ length: 60 }, () => ({})),
      );
      await book(
        second.id,
        Array.from({ length: 60 }, (_, n) => (n < 24 ? failed : {})),
      );
      const many = await compare();
      expect([many.first.requests, many.second.errors, many.fewer_errors]).toEqual([70, 28, 'first']);
      const turned = await api.must<{ fewer_errors: string }>(
        200,
        'GET',
        `/${prompt.id}/compare?first=2&second=1`,
      );
      expect(turned.fewer_errors).toBe('second');
    });

    test('have intervals that contain the rate, and narrow with more calls', () => {
      // Wilson's figures for 1 of 10, from the literature.
      expect(wilsonInterval(1, 10)).toEqual({
        low: expect.closeTo(0.0179, 4),
        high: expect.closeTo(0.4042, 4),
      });
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.nat(), (total, random) => {
          const hits = random % (total + 1);
          const { low, high } = wilsonInterval(hits, total);
          const wider = wilsonInterval(hits * 2, total * 2);
          expect(low).toBeGreaterThanOrEqual(0);
          expect(low).toBeLessThanOrEqual(hits / total);
          expect(high).toBeGreaterThanOrEqual(hits / total);
          expect(high).toBeLessThanOrEqual(1);
          expect(wider.high - wider.low).toBeLessThan(high - low + 1e-12);
        }),
      );
    });
  });

  describe('priced on another model', () => {
    /** gateway/qwen-pro in dollars per token, from the model table. */
    const prices = async (model: string): Promise<[Money, Money]> => {
      const { rows } = await suite.db.pool.query<{ a: string; b: string }>(
        `select (input_price_per_million_usd * 1000000)::bigint::text as a,
           (output_price_per_million_usd * 1000000)::bigint::text as b from models where public_name = $1`,
        [model],
      );
      return [BigInt(rows[0]!.a), BigInt(rows[0]!.b)];
    };
    const estimateOf = async (model: string, records: UsageRecord[]): Promise<Money> => {
      const [priceIn, priceOut] = await prices(model);
      return records.reduce(
        (sum, one) => sum + costOf(one.inputTokens, one.outputTokens, priceIn, priceOut),
        0n,
      );
    };

    test('are exact to the last digit, for the account, a key and a version', async () => {
      const odd = (n: number): Partial<UsageRecord> => ({
        inputTokens: 7 * n + 1,
        outputTokens: 13 * n + 3,
        cost: costOf(7 * n + 1, 13 * n + 3, 100_000n, 300_000n),
      });
      const named = await book(
        second.id,
        Array.from({ length: 30 }, (_, n) => odd(n)),
      );
      const others = await book(null, [...Array.from({ length: 30 }, (_, n) => odd(n + 50)), failed]);
      const keyless = await book(null, [{ ...odd(1), keyId: null }]);
      const charged = (records: UsageRecord[]) => records.filter(({ status }) => status === 'success');
      for (const [query, records] of [
        ['', [...named, ...others, ...keyless]],
        [`&key_id=${payer.keyId}`, [...named, ...others]],
        [`&prompt_version_id=${second.id}`, named],
        [`&prompt_version_id=${second.id}&key_id=${payer.keyId}`, named],
      ] as const) {
        const kept = charged([...records]);
        const estimate = await estimateOf('gateway/qwen-pro', kept);
        const actual = kept.reduce((sum, { cost }) => sum + cost, 0n);
        const { status, body } = await whatIf(`model=gateway/qwen-pro&window_days=1${query}`);
        expect([status, body]).toEqual([
          200,
          {
            window_days: 1,
            model_public_name: 'gateway/qwen-pro',
            requests: kept.length,
            input_tokens: kept.reduce((sum, one) => sum + one.inputTokens, 0),
            output_tokens: kept.reduce((sum, one) => sum + one.outputTokens, 0),
            actual_cost_usd: formatMoney(actual),
            estimated_cost_usd: formatMoney(estimate),
            difference_usd: formatMoney(estimate - actual),
          },
        ]);
      }
      expect(DOLLAR).toBe(10n ** 12n);
    });

    test('cover the window, and keep chat and embeddings apart', async () => {
      expect((await whatIf('model=gateway/fast')).body).toMatchObject({
        requests: 0,
        estimated_cost_usd: '0.000000',
      });
      await book(null, [{}, { createdAt: Date.now() - 5 * DAY_MS }]);
      expect((await whatIf('model=gateway/fast&window_days=5')).body.requests).toBe(1);
      expect((await whatIf('model=gateway/fast&window_days=6')).body.requests).toBe(2);
      expect((await whatIf('model=gateway/embed')).status).toBe(422);
      await book(null, [
        {
          endpoint: 'embeddings',
          servedModel: 'gateway/embed',
          requestedModel: 'gateway/embed',
          outputTokens: 0,
        },
      ]);
      expect((await whatIf('model=gateway/embed')).body.requests).toBe(1);
      expect((await whatIf('model=gateway/fast')).body.requests).toBe(2);
    });

    test('refuse unknown models, and keys and versions of other accounts', async () => {
      const stranger = await signUp(suite.url);
      const foreign = await createTestKey(suite.db, { accountId: stranger.user.id });
      expect((await whatIf('model=gateway/none')).status).toBe(422);
      expect((await whatIf('')).status).toBe(422);
      expect((await whatIf('model=gateway/fast&window_days=91')).status).toBe(422);
      expect((await whatIf(`model=gateway/fast&key_id=${foreign.keyId}`)).status).toBe(404);
      expect((await whatIf('model=gateway/fast&key_id=x')).status).toBe(404);
      expect((await whatIf('model=gateway/fast&prompt_version_id=x')).status).toBe(404);
      token = stranger.token;
      expect((await whatIf(`model=gateway/fast&prompt_version_id=${second.id}`)).status).toBe(404);
    });
  });
});
