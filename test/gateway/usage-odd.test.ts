import { createTestKey, postChat, usageOf } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { chat } from '../support/scripted-upstream.js';

describe('the usage that an upstream reports', () => {
  const suite = useEdge();

  const charged = async (usage: unknown) => {
    const { accountId, key } = await createTestKey(suite.db);
    suite.upstream.answer(chat({ usage }));
    const response = await postChat(suite.edge.url, key);
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    await suite.edge.settled();
    return (await usageOf(suite.db, accountId))[0]!;
  };

  test('is honoured when it is an explicit zero', async () => {
    expect(await charged({ prompt_tokens: 0, completion_tokens: 0 })).toMatchObject({
      input_tokens: 0,
      output_tokens: 0,
      cost: '0.000000000000',
      estimated: false,
      status: 'success',
    });
  });

  test('is charged as reported above the context, and flagged', async () => {
    expect(await charged({ prompt_tokens: 8193, completion_tokens: 1 })).toMatchObject({
      input_tokens: 8193,
      cost: '0.000819600000',
      anomalous: true,
      estimated: false,
    });
  });

  test.each([
    ['missing', undefined],
    ['null', null],
    ['a text', 'many'],
    ['negative', { prompt_tokens: -5, completion_tokens: 3 }],
    ['a fraction', { prompt_tokens: 1.5, completion_tokens: 3 }],
    ['NaN as text', { prompt_tokens: 'NaN', completion_tokens: 3 }],
    ['numbers as text', { prompt_tokens: '5', completion_tokens: '3' }],
    ['beyond a billion', { prompt_tokens: 1e18, completion_tokens: 3 }],
    ['without output', { prompt_tokens: 5 }],
  ])('is estimated and flagged when it is %s', async (_what, usage) => {
    // The messages' 32 bytes are 8 tokens, the answer's 6 bytes are 2.
    expect(await charged(usage)).toMatchObject({
      input_tokens: 8,
      output_tokens: 2,
      cost: '0.000001400000',
      estimated: true,
      anomalous: false,
      status: 'success',
    });
  });
});
