import { createTestKey } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';

describe('GET /v1/models', () => {
  const suite = useEdge();
  const list = async (key: string) => {
    const response = await fetch(`${suite.edge.url}/v1/models`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(response.status).toBe(200);
    return (await response.json()) as {
      object: string;
      data: { id: string; object: string; owned_by: string; created: number }[];
    };
  };

  test.each([
    ['free', ['gateway/fast', 'gateway/embed']],
    [
      'pro',
      ['gateway/fast', 'gateway/qwen-fast', 'gateway/qwen-pro', 'gateway/deepseek-code', 'gateway/embed'],
    ],
    [
      'team',
      [
        'gateway/fast',
        'gateway/qwen-fast',
        'gateway/qwen-pro',
        'gateway/deepseek-code',
        'gateway/deepseek-reason',
        'gateway/embed',
      ],
    ],
  ])('lists what plan %s allows', async (plan, expected) => {
    const { key } = await createTestKey(suite.db, { plan });
    const { object, data } = await list(key);
    expect(object).toBe('list');
    expect(data.map((model) => model.id)).toEqual(expected);
    expect(data[0]).toEqual({
      id: 'gateway/fast',
      object: 'model',
      owned_by: 'gateway',
      created: expect.any(Number),
    });
  });

  test('reports the rate limit without counting against it, as does an unknown route', async () => {
    const { key } = await createTestKey(suite.db, { plan: 'free' });
    for (const path of ['/v1/models', '/v1/nothing', '/v1/models']) {
      const { headers } = await fetch(suite.edge.url + path, { headers: { authorization: `Bearer ${key}` } });
      expect(headers.get('x-ratelimit-limit-requests')).toBe('20');
      expect(headers.get('x-ratelimit-remaining-requests')).toBe('20');
    }
  });

  test('needs no balance', async () => {
    const { key } = await createTestKey(suite.db, { balance: '0' });
    expect((await list(key)).data.length).toBeGreaterThan(0);
  });
});
