import { gzipSync } from 'node:zlib';
import { balanceOf, usageOf } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { chat, delta, FULL_STREAM, raw, stream } from '../support/scripted-upstream.js';
import { type ChatAnswer, createTestWidget, refusalOf, say } from './edge-support.js';

const CANARY = 'system-prompt-canary';

describe('a chat with a widget', () => {
  const suite = useEdge();
  beforeEach(() => suite.upstream.answer(chat()));

  test('is answered, and charged to the owner', async () => {
    const widget = await createTestWidget(suite.db, { columns: { system_prompt: CANARY } });
    const response = await say(suite.edge.url, widget.publicKey);
    expect(response.status).toBe(200);
    const answer = (await response.json()) as ChatAnswer;
    expect(answer).toEqual({
      session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      message: { role: 'assistant', content: 'Hello.', mac: expect.stringMatching(/^[\w-]{24}$/) },
      usage: { prompt_tokens: 12, completion_tokens: 34, total_tokens: 46 },
    });
    const sent = suite.upstream.seen.at(-1)!;
    expect(sent.headers.authorization).toBe('Bearer sk-virtual-of-the-account');
    expect(JSON.parse(sent.body)).toEqual({
      model: 'gateway/fast',
      messages: [
        { role: 'system', content: CANARY },
        { role: 'user', content: 'Hello?' },
      ],
      max_tokens: 1024,
      stream: false,
    });
    await suite.edge.settled();
    const [event] = await usageOf(suite.db, widget.accountId);
    expect(event).toMatchObject({
      id: response.headers.get('x-request-id'),
      key_id: null,
      status: 'success',
      cost: '0.000011400000',
    });
    expect(await balanceOf(suite.db, widget.accountId)).toBe('0.999988600000');
    const { rows } = await suite.db.pool.query(
      'select messages, errors, input_tokens::int, output_tokens::int, cost::text from widget_days where widget_id = $1',
      [widget.id],
    );
    expect(rows).toEqual([
      { messages: 1, errors: 0, input_tokens: 12, output_tokens: 34, cost: '0.000011400000' },
    ]);
  });

  test('continues the conversation and its session', async () => {
    const { publicKey } = await createTestWidget(suite.db);
    const messages = [
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Two' },
      { role: 'user', content: 'Three' },
    ];
    const answer = await say(suite.edge.url, publicKey, { body: { messages, session_id: 'visit-1' } });
    expect((await answer.json()) as ChatAnswer).toMatchObject({ session_id: 'visit-1' });
    expect((JSON.parse(suite.upstream.seen.at(-1)!.body) as { messages: unknown }).messages).toEqual(
      messages,
    );
  });

  test('streams like /v1, with one more chunk for the session and the code', async () => {
    const { publicKey } = await createTestWidget(suite.db);
    suite.upstream.answer(stream(FULL_STREAM));
    const response = await say(suite.edge.url, publicKey, { body: { stream: true } });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const lines = (await response.text()).split('\n\n').filter(Boolean);
    expect(lines.at(-1)).toBe('data: [DONE]');
    const chunks = lines.slice(0, -1).map(
      (line) =>
        JSON.parse(line.slice('data: '.length)) as {
          object: string;
          choices: { delta: { content?: string } }[];
        },
    );
    expect(chunks.every(({ object }) => object === 'chat.completion.chunk')).toBe(true);
    expect(chunks.map(({ choices }) => choices[0]!.delta.content ?? '').join('')).toBe('Hello.');
    expect(chunks.at(-1)).toMatchObject({
      session_id: expect.any(String),
      mac: expect.stringMatching(/^[\w-]{24}$/),
    });
    expect(JSON.stringify(chunks)).not.toContain('usage');
  });

  test('hides a system prompt that a node sends back with its answer', async () => {
    const { publicKey } = await createTestWidget(suite.db, { columns: { system_prompt: CANARY } });
    const echo = { prompt_text: CANARY, prompt_logprobs: [{ decoded_token: CANARY }] };
    const chunkOf = (delta: object, more: object = {}) =>
      `data: ${JSON.stringify({
        ...{ id: CANARY, object: 'chat.completion.chunk', created: 1, model: 'gateway/fast', ...echo },
        choices: [{ index: 0, delta: { ...delta, ...echo }, finish_reason: null, ...echo, ...more }],
        usage: null,
      })}\n\n`;
    suite.upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`: ${CANARY}\n\n${chunkOf({ role: 'assistant', content: '' })}`);
      response.write(chunkOf({ reasoning_content: CANARY, reasoning: CANARY }));
      response.write(
        chunkOf({ content: 'Hello.' }) + chunkOf({}, { finish_reason: 'stop', stop_reason: CANARY }),
      );
      response.end('data: [DONE]\n\n');
    });
    const text = await (await say(suite.edge.url, publicKey, { body: { stream: true } })).text();
    expect(text).not.toContain(CANARY);
    expect(text).toContain('"content":"Hello."');
    expect(text).toContain('"finish_reason":"stop"');
  });

  test('hides the system prompt, whatever fails', async () => {
    const { publicKey } = await createTestWidget(suite.db, { columns: { system_prompt: CANARY } });
    const shown: string[] = [];
    const note = async (response: Response): Promise<number> => {
      shown.push(await response.text(), JSON.stringify([...response.headers]));
      return response.status;
    };
    const leak = JSON.stringify({ error: { message: `bad prompt: ${CANARY}`, type: CANARY, code: CANARY } });
    for (const [status, shown] of [
      [400, 400],
      [422, 422],
      [500, 502],
      [429, 503],
    ] as const) {
      suite.upstream.answer(raw(status, leak));
      expect(await note(await say(suite.edge.url, publicKey))).toBe(shown);
    }
    suite.upstream.answer(stream([delta('Hel'), `data: ${leak}\n\n`]));
    await note(await say(suite.edge.url, publicKey, { body: { stream: true } }));
    expect(shown.at(-2)).toContain('"code":"upstream_error"');
    await note(await fetch(`${suite.edge.url}/api/widget/${publicKey}/config`));
    await note(await say(suite.edge.url, publicKey, { body: { messages: [] } }));
    expect(shown.filter((text) => text.includes(CANARY))).toEqual([]);
  });

  test("that fails at the model is free and doesn't count", async () => {
    const widget = await createTestWidget(suite.db, { columns: { daily_message_limit: 1 } });
    suite.upstream.answer(raw(500, '{}'));
    for (let i = 0; i < 3; i++) {
      expect(await refusalOf(await say(suite.edge.url, widget.publicKey))).toEqual([502, 'upstream_error']);
    }
    suite.upstream.answer(chat());
    expect((await say(suite.edge.url, widget.publicKey)).status).toBe(200);
    await suite.edge.settled();
    expect((await usageOf(suite.db, widget.accountId)).map(({ cost }) => Number(cost))).toEqual([
      0, 0, 0, 0.0000114,
    ]);
  });

  test("is free and reports it when a large answer of the model can't be read", async () => {
    const widget = await createTestWidget(suite.db);
    const choice = { index: 0, message: { role: 'assistant', content: 'x'.repeat(300_000) } };
    const usage = { prompt_tokens: 12, completion_tokens: 34, total_tokens: 46 };
    suite.upstream.answer(
      raw(200, `{"choices":[${JSON.stringify(choice)},],"usage":${JSON.stringify(usage)}}`),
    );
    expect(await refusalOf(await say(suite.edge.url, widget.publicKey))).toEqual([502, 'upstream_error']);
    suite.upstream.answer(chat({ choices: [choice] }));
    const { message } = (await (await say(suite.edge.url, widget.publicKey)).json()) as ChatAnswer;
    expect(message.content).toHaveLength(300_000);
    await suite.edge.settled();
    expect((await usageOf(suite.db, widget.accountId)).map(({ cost }) => Number(cost))).toEqual([
      0, 0.0000114,
    ]);
  });

  test("doesn't count toward the plan's rate", async () => {
    const widget = await createTestWidget(suite.db, { plan: 'free' });
    for (let i = 0; i < 25; i++) expect((await say(suite.edge.url, widget.publicKey)).status).toBe(200);
    const { headers } = await fetch(`${suite.edge.url}/v1/models`, {
      headers: { authorization: `Bearer ${widget.key}` },
    });
    expect(headers.get('x-ratelimit-remaining-requests')).toBe('20');
  });

  test.each([
    [{ messages: [] }, 'messages'],
    [{ messages: undefined }, 'messages'],
    [{ messages: [{ role: 'system', content: 'x' }] }, 'messages.0.role'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages.0.role'],
    [{ messages: [{ role: 'user', content: 'x'.repeat(8_001) }] }, 'messages.0.content'],
    [{ messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] }, 'messages.0.content'],
    [{ messages: Array.from({ length: 51 }, () => ({ role: 'user', content: 'x' })) }, 'messages'],
    [
      { messages: Array.from({ length: 5 }, () => ({ role: 'user', content: 'x'.repeat(7_000) })) },
      'messages',
    ],
    [{ messages: [{ role: 'assistant', content: 'x' }] }, 'messages'],
    [{ session_id: 7 }, 'session_id'],
    [{ session_id: 'a b' }, 'session_id'],
    [{ stream: 'yes' }, 'stream'],
    [{ model: 'gateway/qwen-pro' }, 'model'],
    [{ max_tokens: 9_999 }, 'max_tokens'],
  ])('refuses %j', async (body, field) => {
    const { publicKey } = await createTestWidget(suite.db);
    const before = suite.upstream.seen.length;
    const response = await say(suite.edge.url, publicKey, { body });
    const { error } = (await response.json()) as { error: { code: string; details: { field: string }[] } };
    expect([response.status, error.code, error.details[0]!.field]).toEqual([422, 'validation_error', field]);
    expect(suite.upstream.seen).toHaveLength(before);
  });

  test('accepts 8,000 characters, of which an emoji is one', async () => {
    const { publicKey } = await createTestWidget(suite.db);
    const content = '\u{1f44b}'.repeat(8_000);
    const messages = Array.from({ length: 4 }, () => ({ role: 'user', content }));
    expect((await say(suite.edge.url, publicKey, { body: { messages } })).status).toBe(200);
    const one = [{ role: 'user', content: `${content}!` }];
    expect((await say(suite.edge.url, publicKey, { body: { messages: one } })).status).toBe(422);
    const together = [...messages, { role: 'user', content: '!' }];
    expect((await say(suite.edge.url, publicKey, { body: { messages: together } })).status).toBe(422);
  });

  test.each([
    ['no JSON', '{'],
    ['bad UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['nothing', ''],
  ])('refuses a body that is %s', async (_what, body) => {
    const response = await fetch(`${suite.edge.url}/api/widget/chat`, { method: 'POST', body });
    expect(await refusalOf(response)).toEqual([400, 'invalid_body']);
  });

  test('refuses a compressed body', async () => {
    const response = await fetch(`${suite.edge.url}/api/widget/chat`, {
      method: 'POST',
      headers: { 'content-encoding': 'gzip' },
      body: gzipSync('{}'),
    });
    expect(await refusalOf(response)).toEqual([415, 'unsupported_media_type']);
  });

  test('refuses a body beyond 512 KiB', async () => {
    const { publicKey } = await createTestWidget(suite.db);
    const response = await say(suite.edge.url, publicKey, { body: { session_id: 'x'.repeat(600_000) } });
    expect(await refusalOf(response)).toEqual([413, 'body_too_large']);
  });
});
