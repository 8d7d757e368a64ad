import { type AIMessageChunk, HumanMessage, SystemMessage } from '@langchain/core/messages';
import { concat } from '@langchain/core/utils/stream';
import { chatOf } from './langchain-support.js';
import { FAST, thrownBy, useClients, watchedFetch } from './support.js';

const suite = useClients();

describe('langchain: chat', () => {
  test('invoke answers with the usage that is billed', async () => {
    const before = await suite.balance();
    const answer = await chatOf(suite).invoke([
      new SystemMessage('Be brief.'),
      new HumanMessage(`${FAST} What is a chain?`),
    ]);
    expect(answer.text).toContain('chain');
    const { input_tokens: input, output_tokens: output, total_tokens: total } = answer.usage_metadata!;
    expect(total).toBe(input + output);
    const cost = await suite.priceOf([{ model: 'gateway/qwen-pro', input, output }]);
    expect(before - (await suite.balance())).toBe(cost);
  });

  test('stream asks for usage, and its chunks join to the answer with it', async () => {
    const { fetch, calls } = watchedFetch();
    const before = await suite.balance();
    let whole: AIMessageChunk | undefined;
    let chunks = 0;
    for await (const chunk of await chatOf(suite, {}, fetch).stream(`${FAST} Stream a chain`)) {
      whole = whole ? concat(whole, chunk) : chunk;
      chunks++;
    }
    expect(calls[0]!.body.stream_options).toEqual({ include_usage: true });
    expect(chunks).toBeGreaterThan(10);
    expect(whole!.text).toContain('chain');
    const { input_tokens: input, output_tokens: output } = whole!.usage_metadata!;
    const cost = await suite.priceOf([{ model: 'gateway/qwen-pro', input, output }]);
    expect(cost).toBeGreaterThan(0n);
    expect(before - (await suite.balance())).toBe(cost);
  });

  test('batch makes calls at once, each billed', async () => {
    const before = (await suite.usage()).length;
    const answers = await chatOf(suite).batch(['one', 'two', 'three'].map((word) => `${FAST} Say ${word}`));
    expect(answers.map(({ text }) => text.length > 0)).toEqual([true, true, true]);
    expect(await suite.usage()).toHaveLength(before + 3);
  });

  test.each([
    ['sk-pr-nonsense', 'gateway/fast', 401, 'API key'],
    [undefined, 'gpt-4o', 403, 'not included in your plan'],
  ])('a refusal surfaces with its status and words (%s, %s)', async (apiKey, model, status, words) => {
    const error = await thrownBy(() => chatOf(suite, { model, ...(apiKey && { apiKey }) }).invoke(FAST));
    expect(error).toMatchObject({ status, message: expect.stringContaining(words) });
  });
});
