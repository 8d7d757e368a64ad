import { createTestKey, errorOf, postChat, usageOf } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';

describe('402 insufficient_credits', () => {
  const suite = useEdge();

  test('answers a balance below $0.001, and nothing is forwarded', async () => {
    const { key, accountId } = await createTestKey(suite.db, { balance: '0.000999999999' });
    const response = await postChat(suite.edge.url, key);
    expect(response.status).toBe(402);
    expect(await errorOf(response)).toEqual({
      message: expect.stringContaining('$0.001'),
      type: 'insufficient_quota',
      param: null,
      code: 'insufficient_credits',
    });
    expect(suite.upstream.seen).toHaveLength(0);
    await suite.edge.settled();
    expect(await usageOf(suite.db, accountId)).toEqual([]);
  });

  test('does not answer a balance of exactly $0.001', async () => {
    const { key } = await createTestKey(suite.db, { balance: '0.001' });
    expect((await postChat(suite.edge.url, key)).status).toBe(200);
  });

  test('answers the very next call after the one that took the balance below the floor', async () => {
    const { key } = await createTestKey(suite.db, { balance: '0.00101' });
    expect((await postChat(suite.edge.url, key)).status).toBe(200);
    // 12 × $0.10 + 34 × $0.30 per million were charged: what is left is below the floor.
    expect((await postChat(suite.edge.url, key)).status).toBe(402);
  });

  test('tells a caller whose other calls hold the rest to come back in a second', async () => {
    const { key } = await createTestKey(suite.db, { balance: '0.002' });
    suite.upstream.answer(() => undefined);
    const controller = new AbortController();
    const held = fetch(`${suite.edge.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'gateway/fast', messages: [], max_tokens: 8000 }),
      signal: controller.signal,
    }).catch(() => undefined);
    while (suite.upstream.seen.filter((seen) => seen.body.includes('8000')).length === 0)
      await new Promise(setImmediate);
    const response = await postChat(suite.edge.url, key);
    expect(response.status).toBe(402);
    expect(response.headers.get('retry-after')).toBe('1');
    expect((await errorOf(response)).message).toContain('in progress');
    controller.abort();
    await held;
  });
});
