import { balanceOf, createTestKey, errorOf, usageOf } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';
import { chat } from '../../support/scripted-upstream.js';

describe('a model at the endpoint of the other kind', () => {
  const suite = useEdge();
  const post = (path: string, key: string, body: object) =>
    fetch(suite.edge.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });

  test.each([
    ['/v1/chat/completions', '/v1/embeddings', { model: 'gateway/embed', messages: [] }],
    ['/v1/chat/completions', '/v1/embeddings', { model: 'gateway/embed', messages: [], stream: true }],
    ['/v1/embeddings', '/v1/chat/completions', { model: 'gateway/fast', input: 'a text' }],
  ])('is refused by %s, which names %s; nothing is forwarded or charged', async (path, right, body) => {
    const { key, accountId } = await createTestKey(suite.db, { plan: 'free' });
    suite.upstream.answer(chat());
    const response = await post(path, key, body);
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toEqual({
      message: expect.stringContaining(`POST ${right}`),
      type: 'invalid_request_error',
      param: 'model',
      code: 'invalid_body',
    });
    expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('20');
    await suite.edge.settled();
    expect(suite.upstream.seen).toHaveLength(0);
    expect(await usageOf(suite.db, accountId)).toEqual([]);
    expect(await balanceOf(suite.db, accountId)).toBe('1.000000000000');
  });
});
