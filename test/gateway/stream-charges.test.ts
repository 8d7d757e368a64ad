import { createTestKey, postChat, type UsageRow, usageOf } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { chunkEvent, DONE_EVENT, delta, stream, usageEvent } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';

describe('what a stream costs', () => {
  const suite = useEdge();
  const counted = (content: string, output: number): string =>
    chunkEvent({
      choices: [{ index: 0, delta: { content } }],
      usage: { prompt_tokens: 5, completion_tokens: output },
    });

  /** The event of a stream of these parts; `leaves`: the client goes once it has them all. */
  async function charged(parts: string[], { leaves = false } = {}): Promise<UsageRow> {
    const { key, accountId } = await createTestKey(suite.db);
    suite.upstream.answer(stream(parts, { finish: !leaves }));
    const response = await postChat(suite.edge.url, key, { stream: true });
    expect(response.status).toBe(200);
    if (leaves) {
      const reader = response.body!.getReader();
      const passed = parts.filter((part) => !part.includes('"choices":[]')).join('').length;
      for (let read = 0; read < passed; ) read += (await reader.read()).value!.length;
      await reader.cancel();
      await until(() => suite.upstream.seen.at(-1)!.aborted);
    } else await response.arrayBuffer();
    await suite.edge.settled();
    return (await usageOf(suite.db, accountId))[0]!;
  }
  const large = delta('x'.repeat(100_000));
  const text = 'y'.repeat(400);
  const generated = (content: unknown): string =>
    chunkEvent({ choices: [{ index: 0, delta: content, finish_reason: null }] });
  const bytes = delta('x'.repeat(20_000));

  test.each([
    ['no usage: the bytes in one delta, up to the context', [large, DONE_EVENT], 8_192],
    ['no usage: the deltas where they are more', [...Array(9).fill(delta('x')), DONE_EVENT], 9],
    [
      'no usage: the bytes of tool calls and thoughts, a thought under two names once',
      [
        chunkEvent({
          choices: [{ delta: { tool_calls: [{ function: { arguments: 'y'.repeat(4_000) } }] } }],
        }),
        chunkEvent({
          choices: [{ delta: { reasoning: 'z'.repeat(400), reasoning_content: 'z'.repeat(400) } }],
        }),
        DONE_EVENT,
      ],
      1_100,
    ],
    ['an early usage of zero', [usageEvent(0, 0), bytes, DONE_EVENT], 5_000],
    ['a running usage that stops', [counted('a', 1), bytes, DONE_EVENT], 5_001],
  ])('is the largest known count, and flagged, with %s', async (_what, parts, output) => {
    expect(await charged(parts)).toMatchObject({ output_tokens: output, estimated: true, status: 'success' });
  });

  test.each([
    ['an early usage of zero', [usageEvent(0, 0), bytes], 5_000],
    ['a running usage of zero', [counted('x'.repeat(20_000), 0)], 5_000],
    ['a running usage that stops', [counted('a', 1), bytes], 5_001],
    ['no usage', [large], 8_192],
  ])('is the same for a client that leaves, with %s', async (_what, parts, output) => {
    expect(await charged(parts, { leaves: true })).toMatchObject({
      ...{ output_tokens: output, estimated: true, status: 'success', client_aborted: true },
    });
  });

  test.each([
    ['the input of a custom tool', { tool_calls: [{ index: 0, custom: { input: text } }] }, 100],
    ['the steps of a thought', { thinking_blocks: [{ type: 'thinking', thinking: text }] }, 100],
    ['the sum of a thought', { reasoning_details: [{ type: 'reasoning.summary', summary: text }] }, 100],
    ['sound', { audio: { id: 'audio_1', data: text, transcript: 'z'.repeat(40) } }, 110],
    ['a call of a function', { function_call: { arguments: text } }, 100],
    ['a name that nobody knows', { novel: [text, 'z'.repeat(40)] }, 110],
    ['a thought under three names', { reasoning: text, thinking: text, parts: [{ text }] }, 100],
    ['a thought with its id', { id: text, thought: 'z'.repeat(40), type: text, signature: text }, 10],
  ])(
    'counts what is generated, whatever it is called, for a client that leaves: %s',
    async (_what, content, output) => {
      const parts = [generated(content), generated({ role: 'assistant' })];
      expect(await charged(parts, { leaves: true })).toMatchObject({
        ...{ output_tokens: output, status: 'success', client_aborted: true },
      });
    },
  );

  test.each([
    ['an empty text', { content: '' }],
    ['a part without a text', { tool_calls: [{ index: 0 }] }],
  ])('counts a token for each chunk with %s, except the opening one', async (_what, content) => {
    const opening = generated({ role: 'assistant', content: '' });
    const parts = [opening, ...Array(7).fill(generated(content))];
    expect(await charged(parts, { leaves: true })).toMatchObject({ output_tokens: 7, status: 'success' });
    const last = chunkEvent({ choices: [{ index: 0, delta: { content: '' }, finish_reason: 'stop' }] });
    expect(await charged([opening, last, DONE_EVENT])).toMatchObject({ output_tokens: 0 });
  });

  test.each([
    ['zero', [bytes, usageEvent(0, 0), DONE_EVENT], 0],
    ['less than its bytes', [usageEvent(9, 9), bytes, usageEvent(5, 3), DONE_EVENT], 3],
    ['beside the last token', [counted('x'.repeat(400), 1), counted('y', 2), DONE_EVENT], 2],
    ['in an event with a comment', [bytes, `: ping\n${usageEvent(5, 8)}`, DONE_EVENT], 8],
    [
      'before an end without text',
      [bytes, usageEvent(5, 7), chunkEvent({ choices: [{ delta: {}, finish_reason: 'stop' }] }), DONE_EVENT],
      7,
    ],
  ])('is the usage reported after the last token: %s', async (_what, parts, output) => {
    expect(await charged(parts)).toMatchObject({ output_tokens: output, estimated: false });
  });

  test('is the usage even if another spelling of the option would turn usage off at a node that ignores case', async () => {
    suite.upstream.answer((request, response) => {
      const { stream_options } = JSON.parse(request.body) as { stream_options: Record<string, boolean> };
      const asked = Object.entries(stream_options)
        .filter(([name]) => name.toLowerCase() === 'include_usage')
        .at(-1)![1];
      return stream([delta('a'), ...(asked ? [usageEvent(700, 50)] : []), DONE_EVENT])(request, response);
    });
    const { key, accountId } = await createTestKey(suite.db);
    const options = { include_usage: true, Include_Usage: false };
    const response = await postChat(suite.edge.url, key, { stream: true, stream_options: options });
    expect(await response.text()).toContain('"completion_tokens":50');
    expect(response.headers.get('x-gateway-dropped-fields')).toBe('stream_options.Include_Usage');
    await suite.edge.settled();
    expect(await usageOf(suite.db, accountId)).toMatchObject([
      { input_tokens: 700, output_tokens: 50, estimated: false },
    ]);
  });

  test.each(['data: [DONE] \n\n', 'data:[DONE]\t\n\n', 'data: [DONE]\r\r\n\r\n', 'id: 1\ndata: [DONE]\n\n'])(
    'is due at its end, however that is written: %j',
    async (end) => {
      expect(await charged([delta('a'), usageEvent(3, 4), end])).toMatchObject({
        ...{ status: 'success', input_tokens: 3, output_tokens: 4 },
      });
    },
  );
});
