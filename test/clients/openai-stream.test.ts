import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { FAST, useClients, watchedFetch } from './support.js';

const suite = useClients();
const messages = [{ role: 'user' as const, content: `${FAST} Tell me about streams` }];

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = [];
  for await (const item of items) taken.push(item);
  return taken;
}
const textOf = (chunks: ChatCompletionChunk[]): string =>
  chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');

describe('openai: streams', () => {
  test('a stream has the text of the whole answer, chunk by chunk', async () => {
    const client = suite.openai();
    const whole = await client.chat.completions.create({ model: 'gateway/fast', messages });
    const chunks = await all(
      await client.chat.completions.create({ model: 'gateway/fast', messages, stream: true }),
    );
    expect(chunks.length).toBeGreaterThan(10);
    expect(textOf(chunks)).toBe(whole.choices[0]!.message.content);
    expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set(['gateway/fast']));
    expect(chunks.at(-1)!.choices[0]!.finish_reason).toBe('stop');
  });

  test('chunks arrive while the model still generates', async () => {
    const started = performance.now();
    const stream = await suite.openai().chat.completions.create({
      model: 'gateway/fast',
      messages: [{ role: 'user', content: '[[sim ttft_ms=1 chunk_ms=20 words=40]] Slowly' }],
      stream: true,
    });
    const times: number[] = [];
    for await (const _chunk of stream) times.push(performance.now() - started);
    expect(times.at(-1)! - times[1]!).toBeGreaterThan(400);
  });

  test('without stream_options there is no usage chunk, and the call is still billed by usage', async () => {
    const { fetch, calls } = watchedFetch();
    const before = await suite.balance();
    const chunks = await all(
      await suite.openai({ fetch }).chat.completions.create({
        model: 'gateway/qwen-pro',
        messages: [{ role: 'user', content: '[[sim ttft_ms=1 chunk_ms=0 tokens=4321/99]] Billed' }],
        stream: true,
      }),
    );
    expect(calls[0]!.body).not.toHaveProperty('stream_options');
    expect(chunks.every(({ choices }) => choices.length === 1)).toBe(true);
    expect(chunks.some(({ usage }) => usage)).toBe(false);
    const cost = await suite.priceOf([{ model: 'gateway/qwen-pro', input: 4321, output: 99 }]);
    expect(before - (await suite.balance())).toBe(cost);
    const event = (await suite.usage()).find(({ id }) => id === calls[0]!.requestId);
    expect(event).toMatchObject({ stream: true, input_tokens: 4321, output_tokens: 99, estimated: false });
    expect(event!.ttft_ms).not.toBeNull();
  });

  test('with include_usage the last chunk has no choice and the usage that is billed', async () => {
    const before = await suite.balance();
    const chunks = await all(
      await suite.openai().chat.completions.create({
        model: 'gateway/deepseek-code',
        messages,
        stream: true,
        stream_options: { include_usage: true },
      }),
    );
    const last = chunks.at(-1)!;
    expect(last.choices).toEqual([]);
    const { prompt_tokens: input, completion_tokens: output } = last.usage!;
    expect(chunks.filter(({ usage }) => usage)).toHaveLength(1);
    const cost = await suite.priceOf([{ model: 'gateway/deepseek-code', input, output }]);
    expect(cost).toBeGreaterThan(0n);
    expect(before - (await suite.balance())).toBe(cost);
  });

  test('the .stream() helper assembles the answer from its events', async () => {
    const deltas: string[] = [];
    const runner = suite.openai().chat.completions.stream({ model: 'gateway/fast', messages });
    runner.on('content.delta', ({ delta }) => deltas.push(delta));
    const final = await runner.finalChatCompletion();
    expect(final.choices[0]!.message.content).toBe(deltas.join(''));
    expect(final.choices[0]!.finish_reason).toBe('stop');
    expect(deltas.length).toBeGreaterThan(10);
  });

  test('the .stream() helper returns the usage if it is requested', async () => {
    const before = await suite.balance();
    const runner = suite.openai().chat.completions.stream({
      model: 'gateway/fast',
      messages,
      stream_options: { include_usage: true },
    });
    const { prompt_tokens: input, completion_tokens: output } = (await runner.finalChatCompletion()).usage!;
    const cost = await suite.priceOf([{ model: 'gateway/fast', input, output }]);
    expect(before - (await suite.balance())).toBe(cost);
  });

  test('several choices stay separate', async () => {
    const runner = suite.openai().chat.completions.stream({ model: 'gateway/fast', messages, n: 2 });
    const { choices } = await runner.finalChatCompletion();
    expect(choices.map(({ index }) => index)).toEqual([0, 1]);
    for (const { message } of choices) expect(message.content).toContain('simulat');
  });
});
