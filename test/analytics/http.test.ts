import { newId } from '../../src/lib/ids.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import { dataOf, operate } from '../graphql/support.js';
import { recordOf } from '../metering/support.js';
import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { createTestKey } from '../support/edge.js';
import { usePlatform } from '../support/platform-suite.js';

interface Analytics {
  window_days: number;
  total_requests: number;
  daily_breakdown: { date: string; requests: number }[];
}

describe('analytics over HTTP', () => {
  const suite = usePlatform();
  let ada: Awaited<ReturnType<typeof signUp>>;
  let keyId: string;
  let otherKeyId: string;
  beforeAll(async () => {
    ada = await signUp(suite.url);
    const accountId = ada.user.id;
    ({ keyId } = await createTestKey(suite.db, { accountId }));
    ({ keyId: otherKeyId } = await createTestKey(suite.db, { accountId }));
    const calls = [keyId, keyId, otherKeyId, null].map((id) => ({
      ...recordOf({ accountId, keyId }),
      keyId: id,
    }));
    await flushBatch(suite.db.pool, calls);
  });

  const get = <T = Analytics>(path: string, token = ada.token) => call<T>(suite.url, 'GET', path, { token });
  const ofKey = (id: string) => `/api/keys/${id}/analytics`;

  test('of a key cover its calls only, those of the account all', async () => {
    const answers = await Promise.all([
      get(ofKey(keyId)),
      get(ofKey(otherKeyId)),
      get('/api/usage/analytics'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.map(({ body }) => body.total_requests)).toEqual([2, 1, 4]);
  });

  test.each([1, 90])('cover %p days', async (days) => {
    const { body } = await get(`${ofKey(keyId)}?window_days=${days}`);
    expect(body.window_days).toBe(days);
    expect(body.daily_breakdown).toHaveLength(days);
    expect(body.daily_breakdown.at(-1)!.requests).toBe(2);
  });

  test.each(['window_days=0', 'window_days=91', 'window_days=7.5', 'window_days=x', 'days=7'])(
    '422 for %s',
    async (query) => {
      for (const path of [ofKey(keyId), '/api/usage/analytics']) {
        const answer = await get<ErrorAnswer>(`${path}?${query}`);
        expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
        expect(answer.body.error.details?.map(({ field }) => field)).toEqual([query.split('=')[0]]);
      }
    },
  );

  test("return 404 for another account's key, an unknown one, and a malformed id", async () => {
    const { token } = await signUp(suite.url);
    for (const [id, whose] of [
      [keyId, token],
      [newId(), ada.token],
      ['x', ada.token],
    ] as const) {
      const answer = await get<ErrorAnswer>(ofKey(id), whose);
      expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
    }
    expect((await get('/api/usage/analytics', token)).body.total_requests).toBe(0);
  });

  test('return 401 without a session', async () => {
    for (const path of [ofKey(keyId), '/api/usage/analytics']) {
      expect((await call(suite.url, 'GET', path)).status).toBe(401);
    }
  });

  test('are the same in GraphQL', async () => {
    const data = await dataOf<{
      viewer: {
        analytics: { totalRequests: number };
        apiKey: { analytics: { totalRequests: number; dailyBreakdown: unknown[]; topModels: unknown[] } };
      };
    }>(
      suite.url,
      `query ($id: ID!) { viewer {
        analytics { totalRequests }
        apiKey(id: $id) { analytics(windowDays: 7) {
          totalRequests dailyBreakdown { date requests errors costUsd }
          topModels { modelPublicName requests costUsd } } } } }`,
      { token: ada.token, variables: { id: keyId } },
    );
    const { body } = await get<Record<string, unknown[]>>(`${ofKey(keyId)}?window_days=7`);
    expect(data.viewer.analytics.totalRequests).toBe(4);
    const reported = data.viewer.apiKey.analytics;
    expect(reported.totalRequests).toBe(2);
    expect(reported.topModels).toEqual([
      { modelPublicName: 'gateway/fast', requests: 2, costUsd: '0.000500' },
    ]);
    expect(reported.dailyBreakdown).toEqual(
      body.daily_breakdown!.map((day) => {
        const { cost_usd: costUsd, ...rest } = day as { cost_usd: string };
        return { ...rest, costUsd };
      }),
    );
  });

  test('a window that is too long is also refused in GraphQL', async () => {
    const { body } = await operate(suite.url, '{ viewer { analytics(windowDays: 91) { totalRequests } } }', {
      token: ada.token,
    });
    expect(JSON.stringify(body)).toContain('validation_error');
  });
});
