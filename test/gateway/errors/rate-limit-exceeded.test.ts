import { createTestKey, errorOf, postChat } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';

describe('429 rate_limit_exceeded', () => {
  let now = Date.UTC(2026, 10, 21, 12, 0, 0);
  const suite = useEdge({ clock: { now: () => now } });

  test("answers what is beyond the plan's requests per minute, for all keys of the account together", async () => {
    const one = await createTestKey(suite.db, { plan: 'free' });
    const other = await createTestKey(suite.db, { accountId: one.accountId });
    for (let i = 0; i < 20; i++) {
      const response = await postChat(suite.edge.url, i % 2 ? one.key : other.key);
      expect(response.status).toBe(200);
      expect(response.headers.get('x-ratelimit-limit-requests')).toBe('20');
      expect(response.headers.get('x-ratelimit-remaining-requests')).toBe(String(19 - i));
      now += 1_000;
    }
    const refused = await postChat(suite.edge.url, one.key);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('40');
    expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('0');
    expect(refused.headers.get('x-ratelimit-reset-requests')).toBe('40.000s');
    expect(await errorOf(refused)).toEqual({
      message: expect.stringContaining('20 requests per minute'),
      type: 'requests',
      param: null,
      code: 'rate_limit_exceeded',
    });
    now += 39_999;
    expect((await postChat(suite.edge.url, one.key)).status).toBe(429);
    now += 1;
    expect((await postChat(suite.edge.url, one.key)).status).toBe(200);
  });

  test('never tells a wait of a minute, which SDKs take for none, and tells milliseconds beside it', async () => {
    const { key } = await createTestKey(suite.db, { plan: 'free' });
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => (await postChat(suite.edge.url, key)).status),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    const refusal = async () => {
      const { status, headers } = await postChat(suite.edge.url, key);
      return [status, headers.get('retry-after'), headers.get('retry-after-ms')];
    };
    expect(await refusal()).toEqual([429, '59', '59999']);
    now += 250;
    expect(await refusal()).toEqual([429, '59', '59750']);
    now += 20_000;
    expect(await refusal()).toEqual([429, '40', '39750']);
  });

  test('is over a minute later, also when the clock steps back an hour', async () => {
    const { key } = await createTestKey(suite.db, { plan: 'free' });
    for (let i = 0; i < 20; i++) {
      expect((await postChat(suite.edge.url, key)).status).toBe(200);
      now += 1_000;
    }
    now -= 3_600_000;
    const refused = await postChat(suite.edge.url, key);
    // The oldest is 19 s old, as it was when the newest came.
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '41']);
    now += 41_000;
    expect((await postChat(suite.edge.url, key)).status).toBe(200);
    now += 60_000;
    const { headers } = await postChat(suite.edge.url, key);
    expect(headers.get('x-ratelimit-remaining-requests')).toBe('19');
  });

  test('does not count calls that another check refuses, nor the model list', async () => {
    const { key } = await createTestKey(suite.db, { plan: 'free' });
    for (let i = 0; i < 30; i++) {
      expect((await postChat(suite.edge.url, key, { model: 'gateway/qwen-pro' })).status).toBe(403);
      expect((await postChat(suite.edge.url, key, 'no json')).status).toBe(400);
      const models = await fetch(`${suite.edge.url}/v1/models`, {
        headers: { authorization: `Bearer ${key}` },
      });
      expect(models.status).toBe(200);
    }
    const response = await postChat(suite.edge.url, key);
    expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('19');
  });
});
