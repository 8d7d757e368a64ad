import { generateText, streamText } from 'ai';
import { providerOf } from './ai-support.js';
import { FAST, useClients, watchedFetch } from './support.js';

const suite = useClients();

describe('ai: text', () => {
  test('generateText gives text, reason and the usage that is billed', async () => {
    const before = await suite.balance();
    const { text, finishReason, usage, response } = await generateText({
      model: providerOf(suite)('gateway/qwen-pro'),
      instructions: 'Be brief.',
      prompt: `${FAST} What is a gateway?`,
    });
    expect(text).toContain('gateway');
    expect(finishReason).toBe('stop');
    expect(response.modelId).toBe('gateway/qwen-pro');
    const spent = { model: 'gateway/qwen-pro', input: usage.inputTokens!, output: usage.outputTokens! };
    expect(before - (await suite.balance())).toBe(await suite.priceOf([spent]));
  });

  test('streamText streams, and its usage is what is billed', async () => {
    const { fetch, calls } = watchedFetch();
    const before = await suite.balance();
    const result = streamText({
      model: providerOf(suite, undefined, fetch)('gateway/deepseek-code'),
      prompt: `${FAST} Stream something`,
    });
    const parts: string[] = [];
    for await (const part of result.textStream) parts.push(part);
    expect(calls[0]!.body.stream_options).toEqual({ include_usage: true });
    expect(parts.length).toBeGreaterThan(10);
    expect(await result.text).toBe(parts.join(''));
    expect(await result.finishReason).toBe('stop');
    const usage = await result.usage;
    const spent = { model: 'gateway/deepseek-code', input: usage.inputTokens!, output: usage.outputTokens! };
    expect(spent.output).toBeGreaterThan(10);
    expect(before - (await suite.balance())).toBe(await suite.priceOf([spent]));
  });

  test('a stream has the text of the whole answer', async () => {
    const asked = { model: providerOf(suite)('gateway/fast'), prompt: `${FAST} The same twice` };
    const { text } = await generateText(asked);
    expect(await streamText(asked).text).toBe(text);
  });
});
