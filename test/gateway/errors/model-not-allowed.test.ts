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

  test.each([
    ['of another plan', 'gateway/qwen-pro', 'The model "gateway/qwen-pro" is not included in your plan.'],
    ['that there is not', 'gpt-4o', 'There is no model "gpt-4o" here. GET /v1/models lists yours.'],
    [
      'without its prefix',
      'fast',
      'There is no model "fast" here. Did you mean "gateway/fast"? GET /v1/models',
    ],
    ['with odd characters', 'a"b\u0000\n\u202e', 'There is no model "a?b???" here.'],
    ['as long as a book', 'é'.repeat(5_000), `There is no model "${'é'.repeat(50)}…" here.`],
  ])('says of a model %s what to do', async (_what, model, words) => {
    const { key } = await createTestKey(suite.db, { plan: 'starter' });
    const { message } = await errorOf(await postChat(suite.edge.url, key, { model }));
    expect(message).toContain(words);
  });
});
