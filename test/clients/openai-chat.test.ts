import { FAST, useClients, watchedFetch } from './support.js';

/** The main job of the product with the official SDK: a chat call, answered and billed to the last digit. */
const suite = useClients();

describe('openai: chat completions', () => {
  test('the requested model answers', async () => {
    const answer = await suite.openai().chat.completions.create({
      model: 'gateway/fast',
      messages: [{ role: 'user', content: `${FAST} What is a ledger?` }],
    });
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: 'gateway/fast',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant' } }],
    });
    expect(answer.choices[0]!.message.content).toContain('ledger');
    expect(answer.usage!.total_tokens).toBe(answer.usage!.prompt_tokens + answer.usage!.completion_tokens);
  });

  test('the balance falls by exactly tokens × price ÷ 1,000,000', async () => {
    const client = suite.openai();
    const before = await suite.balance();
    const spent = [];
    for (const model of [
      'gateway/fast',
      'gateway/qwen-fast',
      'gateway/qwen-pro',
      'gateway/deepseek-code',
      'gateway/deepseek-reason',
    ]) {
      const answer = await client.chat.completions.create({
        model,
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: `${FAST} Tell ${model} about money` },
        ],
      });
      const { prompt_tokens: input, completion_tokens: output } = answer.usage!;
      expect(answer.model).toBe(model);
      spent.push({ model, input, output });
    }
    const cost = await suite.priceOf(spent);
    expect(cost).toBeGreaterThan(0n);
    expect(before - (await suite.balance())).toBe(cost);
  });

  test('_request_id is the id of the usage event, with the tokens of the answer', async () => {
    const answer = await suite.openai().chat.completions.create({
      model: 'gateway/qwen-pro',
      messages: [{ role: 'user', content: `[[sim ttft_ms=1 tokens=1234/567]] Count` }],
    });
    expect(answer.usage).toMatchObject({ prompt_tokens: 1234, completion_tokens: 567, total_tokens: 1801 });
    const event = (await suite.usage()).find(({ id }) => id === answer._request_id);
    expect(event).toMatchObject({
      requested_model: 'gateway/qwen-pro',
      served_model: 'gateway/qwen-pro',
      endpoint: 'chat',
      stream: false,
      input_tokens: 1234,
      output_tokens: 567,
      // 1234 × 0.5 + 567 × 1.5 dollars per million.
      cost: '0.001467500000',
      status: 'success',
      estimated: false,
    });
  });

  test('several choices, stop words and limits reach the node', async () => {
    const client = suite.openai();
    const messages = [{ role: 'user' as const, content: `${FAST} Several answers` }];
    const several = await client.chat.completions.create({ model: 'gateway/fast', messages, n: 3 });
    expect(several.choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    const short = await client.chat.completions.create({
      model: 'gateway/fast',
      messages,
      max_completion_tokens: 3,
    });
    expect(short.choices[0]!.finish_reason).toBe('length');
    expect(short.usage!.completion_tokens).toBe(3);
    const stopped = await client.chat.completions.create({ model: 'gateway/fast', messages, stop: 'answer' });
    expect(stopped.choices[0]!.message.content).not.toContain('answer');
  });

  test('log probabilities make up the text, whole and streamed', async () => {
    const client = suite.openai();
    const asked = {
      model: 'gateway/fast',
      messages: [{ role: 'user' as const, content: `${FAST} Hello` }],
      logprobs: true,
      top_logprobs: 2,
    };
    const { message, logprobs } = (await client.chat.completions.create(asked)).choices[0]!;
    expect(logprobs!.content!.map(({ token }) => token).join('')).toBe(message.content);
    expect(logprobs!.content!.every(({ top_logprobs: top }) => top.length === 2)).toBe(true);
    const streamed: object[] = [];
    for await (const { choices } of await client.chat.completions.create({ ...asked, stream: true }))
      streamed.push(...(choices[0]?.logprobs?.content ?? []));
    expect(streamed).toEqual(logprobs!.content);
  });

  test('text parts and unknown members are accepted', async () => {
    const { fetch, calls } = watchedFetch();
    const answer = await suite.openai({ fetch }).chat.completions.create({
      model: 'gateway/fast',
      messages: [{ role: 'user', content: [{ type: 'text', text: `${FAST} Umlaute äöü 🙂` }] }],
      temperature: 0.2,
      seed: 7,
      user: 'end-user-1',
      // @ts-expect-error a field of some engines that the SDK does not know
      top_k: 40,
    });
    expect(calls[0]!.body).toHaveProperty('top_k', 40);
    expect(answer.choices[0]!.message.content).toContain('Umlaute');
  });

  test("the raw response has our headers and none of the node's", async () => {
    const { response } = await suite
      .openai()
      .chat.completions.create({
        model: 'gateway/fast',
        messages: [{ role: 'user', content: '[[sim ttft_ms=1 echo_canary=1]] Headers' }],
      })
      .withResponse();
    expect([...response.headers.keys()].filter((name) => !name.startsWith('access-control')).sort()).toEqual([
      'cache-control',
      'connection',
      'content-length',
      'content-type',
      'date',
      'keep-alive',
      'x-content-type-options',
      'x-ratelimit-limit-requests',
      'x-ratelimit-remaining-requests',
      'x-ratelimit-reset-requests',
      'x-request-id',
    ]);
    expect(response.headers.get('x-ratelimit-limit-requests')).toBe('1000');
  });
});
