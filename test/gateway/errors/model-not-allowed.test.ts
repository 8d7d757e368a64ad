import { createTestKey, errorOf, postChat } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';

describe('403 model_not_allowed', () => {
  const suite = useEdge();

  test.each([
    ['free', 'gateway/qwen-fast'],
    ['starter', 'gateway/qwen-pro'],
    ['pro', 'gateway/deepseek-reason'],
    ['team', 'gateway/nothing'],
    ['team', 'fast'],
    ['team', 'gemma-3-4b'],
  ])('answers a caller on plan %s who asks for %s', async (plan, model) => {
    const { key } = await createTestKey(suite.db, { plan });
    const response = await postChat(suite.edge.url, key, { model });
    expect(response.status).toBe(403);
    expect(await errorOf(response)).toEqual({
      message: expect.stringContaining(model),
      type: 'invalid_request_error',
      param: 'model',
      code: 'model_not_allowed',
    });
    expect(suite.upstream.seen).toHaveLength(0);
  });
});
