import { createTestKey, postChat } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { chat, FULL_STREAM, stream } from '../support/scripted-upstream.js';

/** Members of a body that go no further than the edge, and how the caller hears of it. */
describe('a call with members that are not known', () => {
  const suite = useEdge({ env: { ALLOWED_BODY_FIELDS: 'lora_path, my_engine.mode' } });
  const ORDERS = {
    langfuse_public_key: 'pk-attacker',
    turn_off_message_logging: true,
    provider_specific_header: { custom_llm_provider: 'openai', extra_headers: { host: 'evil' } },
    max_new_tokens: 1_000_000,
  };

  test('is forwarded without them, and told their names', async () => {
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

  test('hears nothing of it where there are none', async () => {
    const { key } = await createTestKey(suite.db);
    suite.upstream.answer(chat());
    const response = await postChat(suite.edge.url, key, { temperature: 0 });
    expect(response.headers.has('x-gateway-dropped-fields')).toBe(false);
  });

  test('hears of it with an error of the upstream too', async () => {
    const { key } = await createTestKey(suite.db);
    suite.upstream.answer(chat({}, 500));
    const response = await postChat(suite.edge.url, key, { tags: ['x'] });
    expect([response.status, response.headers.get('x-gateway-dropped-fields')]).toEqual([502, 'tags']);
  });
});
