import { createTestKey, errorOf, postChat } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { chat, FULL_STREAM, raw, stream } from '../support/scripted-upstream.js';

/** Members of a body that go no further than the edge, and how the caller hears of it. */
describe('a call with unknown members', () => {
  const suite = useEdge({ env: { ALLOWED_BODY_FIELDS: 'lora_path, my_engine.mode' } });
  const ORDERS = {
    langfuse_public_key: 'pk-attacker',
    turn_off_message_logging: true,
    provider_specific_header: { custom_llm_provider: 'openai', extra_headers: { host: 'evil' } },
    max_new_tokens: 1_000_000,
  };

  test('is forwarded without them, and lists their names in a header', async () => {
    const { key } = await createTestKey(suite.db);
    for (const fields of [{}, { stream: true }]) {
      suite.upstream.answer('stream' in fields ? stream(FULL_STREAM) : chat());
      const response = await postChat(
        suite.edge.url,
        key,
        { ...fields, ...ORDERS, lora_path: 'a', 'my_engine.mode': 1, top_k: 40 },
        { origin: 'https://example.com' },
      );
      expect(response.status).toBe(200);
      await response.arrayBuffer();
      expect(response.headers.get('x-gateway-dropped-fields')).toBe(Object.keys(ORDERS).join(', '));
      expect(response.headers.get('access-control-expose-headers')).toContain('x-gateway-dropped-fields');
      const { model, messages, stream_options, ...sent } = JSON.parse(suite.upstream.seen.at(-1)!.body);
      expect(sent).toEqual({ ...fields, lora_path: 'a', 'my_engine.mode': 1, top_k: 40 });
    }
  });

  const DOCUMENTED = {
    thinking: { type: 'disabled' },
    enable_thinking: false,
    thinking_budget: 512,
    chat_template_kwargs: { enable_thinking: false },
    safe_prompt: true,
  };
  const EFFORTS: [string, object, object, string | null][] = [
    ['members that nodes document', DOCUMENTED, DOCUMENTED, null],
    ['an effort in an object', { reasoning: { effort: 'low' } }, { reasoning_effort: 'low' }, null],
    [
      'more in the object',
      { reasoning: { effort: 'high', exclude: true } },
      { reasoning_effort: 'high' },
      'reasoning.exclude',
    ],
    ['reasoning that is off', { reasoning: { enabled: false } }, { reasoning_effort: 'none' }, null],
    [
      'an effort beside the object',
      { reasoning: { effort: 'high' }, reasoning_effort: 'low' },
      { reasoning_effort: 'low' },
      'reasoning',
    ],
    ['no effort', { reasoning: { max_tokens: 10 } }, {}, 'reasoning'],
    ['an effort that is no word', { reasoning: { effort: '"},"x":{"' } }, {}, 'reasoning'],
    ['an object that is null', { reasoning: null }, {}, 'reasoning'],
  ];

  test.each(EFFORTS)('reaches a reasoning node: %s', async (_what, fields, sent, dropped) => {
    const { key } = await createTestKey(suite.db);
    for (const streamed of [{}, { stream: true }]) {
      suite.upstream.answer('stream' in streamed ? stream(FULL_STREAM) : chat());
      const response = await postChat(suite.edge.url, key, { ...streamed, ...fields });
      expect(response.status).toBe(200);
      await response.arrayBuffer();
      expect(response.headers.get('x-gateway-dropped-fields')).toBe(dropped);
      const { model, messages, stream_options, ...got } = JSON.parse(suite.upstream.seen.at(-1)!.body);
      expect(got).toEqual({ ...streamed, ...sent });
    }
  });

  test('keeps the task of embeddings and the truncation of inputs', async () => {
    const { key } = await createTestKey(suite.db);
    const vector = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }] };
    const usage = { prompt_tokens: 1, total_tokens: 1 };
    suite.upstream.answer(raw(200, JSON.stringify({ ...vector, model: 'gateway/embed', usage })));
    const fields = { input: 'Hi', input_type: 'query', truncate: 'END', prompt_name: 'query' };
    const response = await fetch(`${suite.edge.url}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'gateway/embed', ...fields }),
    });
    expect(response.status).toBe(200);
    expect(response.headers.has('x-gateway-dropped-fields')).toBe(false);
    expect(JSON.parse(suite.upstream.seen.at(-1)!.body)).toMatchObject(fields);
  });

  test('has no such header if nothing was dropped', async () => {
    const { key } = await createTestKey(suite.db);
    suite.upstream.answer(chat());
    const response = await postChat(suite.edge.url, key, { temperature: 0 });
    expect(response.headers.has('x-gateway-dropped-fields')).toBe(false);
  });

  test('lists them with an upstream error too', async () => {
    const { key } = await createTestKey(suite.db);
    suite.upstream.answer(chat({}, 500));
    const response = await postChat(suite.edge.url, key, { tags: ['x'] });
    expect([response.status, response.headers.get('x-gateway-dropped-fields')]).toEqual([502, 'tags']);
  });

  test("lists nested members, and tools that aren't run here", async () => {
    const { key } = await createTestKey(suite.db);
    suite.upstream.answer(chat());
    const response = await postChat(suite.edge.url, key, {
      store: true,
      chat_template_kwargs: { enable_thinking: false, chat_template: 'x' },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-gateway-dropped-fields')).toBe(
      'store, chat_template_kwargs.chat_template',
    );
    expect(JSON.parse(suite.upstream.seen.at(-1)!.body).chat_template_kwargs).toEqual({
      enable_thinking: false,
    });
    const before = suite.upstream.seen.length;
    const refused = await postChat(suite.edge.url, key, {
      tools: [{ type: 'mcp', server_url: 'http://10.0.0.1/' }],
    });
    expect([refused.status, await errorOf(refused)]).toMatchObject([
      400,
      { code: 'invalid_body', type: 'invalid_request_error', param: 'tools[0].type' },
    ]);
    expect(suite.upstream.seen).toHaveLength(before);
  });
});

describe('media at an address', () => {
  const suite = useEdge();
  const open = useEdge({ env: { MEDIA_ALLOW_PRIVATE: '1' } });
  const withImage = (url: string) => ({
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
  });

  test.each([
    ['http://10.0.0.1/a.png', 400, 200],
    ['http://169.254.169.254/latest/meta-data', 400, 400],
    ['https://example.com/a.png', 200, 200],
  ])('%s gets %i, and %i if the operator allows private networks', async (url, strict, loose) => {
    for (const [{ db, edge, upstream }, status] of [
      [suite, strict],
      [open, loose],
    ] as const) {
      const { key } = await createTestKey(db);
      upstream.answer(chat());
      const response = await postChat(edge.url, key, withImage(url));
      expect(response.status).toBe(status);
      if (status === 400) {
        const { param, message } = await errorOf(response);
        expect(param).toBe('messages[0].content[0].image_url.url');
        expect(message).not.toContain(new URL(url).host);
      }
    }
  });
});
