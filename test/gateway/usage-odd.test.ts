import { createTestKey, postChat, usageOf } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { chat } from '../support/scripted-upstream.js';

describe('the usage that an upstream reports', () => {
  const suite = useEdge();

  const charged = async (usage: unknown, fields: Record<string, unknown> = {}) => {
    const { accountId, key } = await createTestKey(suite.db);
    suite.upstream.answer(chat({ usage, ...fields }));
    const response = await postChat(suite.edge.url, key, { n: 2 });
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    await suite.edge.settled();
    return (await usageOf(suite.db, accountId))[0]!;
  };

  test('is charged, flagged and counted if it is an explicit zero', async () => {
    const uncounted = async (): Promise<number> => {
      const { values } = await suite.edge.registry.getSingleMetric('gateway_uncounted_answers_total')!.get();
      return values.reduce((sum, { value }) => sum + value, 0);
    };
    const before = await uncounted();
    const zero = { prompt_tokens: 0, completion_tokens: 0 };
    const free = { input_tokens: 0, output_tokens: 0, cost: '0.000000000000', estimated: false };
    expect(await charged(zero)).toMatchObject({ ...free, status: 'success', anomalous: true });
    expect((await uncounted()) - before).toBe(1);
    const choices = [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'stop' }];
    expect(await charged(zero, { choices })).toMatchObject({ ...free, anomalous: false });
    expect((await uncounted()) - before).toBe(1);
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

  const text = 'y'.repeat(400);
  test.each([
    ['a call of a function', [{ function_call: { arguments: text } }], 100],
    ['the input of a custom tool', [{ tool_calls: [{ custom: { input: text } }] }], 100],
    ['a thought in parts', [{ content: null, reasoning_details: [{ type: text, summary: text }] }], 100],
    ['a thought under two names', [{ reasoning: text, reasoning_content: text }], 100],
    ['two answers that say the same', [{ content: text }, { content: text }], 200],
  ])('is estimated from everything generated if it is missing: %s', async (_what, messages, output) => {
    const choices = messages.map((message, index) => ({ index, message, finish_reason: 'stop' }));
    expect(await charged(undefined, { choices })).toMatchObject({ output_tokens: output, estimated: true });
    // Read in turns.
    const logprobs = { content: [{ token: 'z'.repeat(300_000) }] };
    const large = choices.map((choice) => ({ ...choice, logprobs }));
    expect(await charged(undefined, { choices: large })).toMatchObject({ output_tokens: output });
  });
});
