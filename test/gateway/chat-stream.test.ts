import { connect } from 'node:net';
import {
  balanceOf,
  createTestKey,
  errorOf,
  postChat,
  startTestEdge,
  type TestEdge,
  usageOf,
} from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import {
  chunkEvent,
  DONE_EVENT,
  delta,
  FULL_STREAM,
  type SeenRequest,
  stream,
  usageEvent,
} from '../support/scripted-upstream.js';
import { until } from '../support/until.js';

describe('a streamed chat', () => {
  let hasty: TestEdge;
  // Before the end of its database.
  afterAll(() => hasty?.close());
  const suite = useEdge();
  beforeAll(async () => {
    const env = { UPSTREAM_IDLE_SECONDS: '0.5' };
    hasty = await startTestEdge(suite.db, { upstreamUrl: suite.upstream.url, env });
  });
  const call = async (key: string, fields: Record<string, unknown> = {}) =>
    postChat(suite.edge.url, key, { stream: true, ...fields });

  test('every byte passes but an unrequested usage chunk, by which the stream is charged', async () => {
    const { key, accountId } = await createTestKey(suite.db);
    suite.upstream.answer(stream(FULL_STREAM));
    const response = await call(key);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(await response.text()).toBe(FULL_STREAM.filter((_, i) => i !== 4).join(''));
    expect(JSON.parse(suite.upstream.seen.at(-1)!.body).stream_options).toEqual({ include_usage: true });
    await suite.edge.settled();
    expect(await usageOf(suite.db, accountId)).toEqual([
      expect.objectContaining({
        id: response.headers.get('x-request-id'),
        stream: true,
        input_tokens: 12,
        output_tokens: 34,
        cost: '0.000011400000',
        status: 'success',
        estimated: false,
        client_aborted: false,
        ttft_ms: expect.any(Number),
      }),
    ]);
  });

  test('the usage chunk passes if the client requested it', async () => {
    const { key } = await createTestKey(suite.db);
    suite.upstream.answer(stream(FULL_STREAM));
    const response = await call(key, { stream_options: { include_usage: true } });
    expect(await response.text()).toBe(FULL_STREAM.join(''));
  });

  test('a stream is the same however its bytes are split', async () => {
    const { key, accountId } = await createTestKey(suite.db);
    const text = Buffer.from(
      `: ping\r\n\r\n${delta('Grüße 😀')}${delta('x').replace(/\n/g, '\r\n')}${usageEvent(3, 2)}${DONE_EVENT}`,
    );
    const expected = text.toString().replace(usageEvent(3, 2), '').replace(': ping\r\n\r\n', ':\n\n');
    const cuts = [1, 2, 7, 64, text.length];
    for (const size of cuts) {
      const parts = Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
        text.subarray(i * size, (i + 1) * size),
      );
      suite.upstream.answer(stream(parts));
      expect(await (await call(key)).text()).toBe(expected);
    }
    await suite.edge.settled();
    const rows = await usageOf(suite.db, accountId);
    expect(rows.map((row) => [row.input_tokens, row.output_tokens])).toEqual(cuts.map(() => [3, 2]));
  });

  test('usage in a chunk with choices is read, and the chunk passes', async () => {
    const { key, accountId } = await createTestKey(suite.db);
    const last = chunkEvent({
      choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 5, completion_tokens: 6 },
    });
    suite.upstream.answer(stream([delta('y'), last, DONE_EVENT]));
    expect(await (await call(key)).text()).toBe(delta('y') + last + DONE_EVENT);
    await suite.edge.settled();
    expect(await usageOf(suite.db, accountId)).toEqual([
      expect.objectContaining({ input_tokens: 5, output_tokens: 6, estimated: false }),
    ]);
  });

  test('a complete stream without usage is estimated, charged and flagged', async () => {
    const { key, accountId } = await createTestKey(suite.db);
    suite.upstream.answer(stream([FULL_STREAM[0]!, delta('a'), delta('b'), delta('c'), DONE_EVENT]));
    await (await call(key)).text();
    await suite.edge.settled();
    // The messages' 32 bytes are 8 tokens; three deltas carried a token, the opening one none.
    expect(await usageOf(suite.db, accountId)).toEqual([
      expect.objectContaining({ input_tokens: 8, output_tokens: 3, estimated: true, status: 'success' }),
    ]);
  });

  test('choices pass unchanged, whatever they contain', async () => {
    const { key } = await createTestKey(suite.db);
    const choice = (fields: string) =>
      `data: {"id":"a","model":"gateway/fast","choices":[{"index":0,${fields}}]}\n\n`;
    const parts = [
      choice('"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":""}}]}'),
      choice('"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\\"error\\":\\"\\u0065\\"}"}}]}'),
      choice('"delta" : {"x_new":{"y":[1.50,1e2]},"provider_specific_fields":null}, "x":"\\u00e9"'),
    ];
    suite.upstream.answer(stream([...parts, usageEvent(1, 1), DONE_EVENT]));
    expect(await (await call(key)).text()).toBe(parts.join('') + DONE_EVENT);
  });

  test('every chunk has the public name if the upstream uses an internal one', async () => {
    const { key } = await createTestKey(suite.db);
    const internal = FULL_STREAM.map((part) => part.replaceAll('gateway/fast', 'org/gemma-3-4b-it-q4'));
    suite.upstream.answer(stream(internal));
    expect(await (await call(key)).text()).toBe(FULL_STREAM.filter((_, i) => i !== 4).join(''));
  });

  test.each([
    ['400', '400', 400, 'invalid_request'],
    ['429', 429, 503, 'upstream_unavailable'],
    ['no status', null, 502, 'upstream_error'],
    ['a word', 'server_error', 502, 'upstream_error'],
  ])(
    'a first chunk that is an error with %s becomes JSON with its real status',
    async (_what, code, status, expected) => {
      const { key, accountId } = await createTestKey(suite.db);
      suite.upstream.answer(
        stream([`data: ${JSON.stringify({ error: { message: 'bad at http://10.1.1.1:80', code } })}\n\n`]),
      );
      const response = await call(key);
      expect(response.status).toBe(status);
      expect(response.headers.get('content-type')).toContain('application/json');
      const error = await errorOf(response);
      expect(error.code).toBe(expected);
      expect(error.message).not.toContain('10.1.1.1');
      await suite.edge.settled();
      expect(await usageOf(suite.db, accountId)).toEqual([
        expect.objectContaining({ status: 'error', http_status: status, cost: '0.000000000000' }),
      ]);
    },
  );

  test.each([
    ['closes without [DONE]', stream([delta('a'), delta('b')])],
    [
      'resets',
      async (_request: unknown, response: import('node:http').ServerResponse) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(delta('a') + delta('b'));
        setTimeout(() => response.socket?.resetAndDestroy(), 30);
      },
    ],
    ['stalls', stream([delta('a'), delta('b')], { finish: false })],
    [
      'reports an error',
      stream([
        delta('a'),
        delta('b'),
        'data: {"error":{"message":"CUDA at http://10.1.1.1","code":500}}\n\n',
      ]),
    ],
    [
      'sends an event of more than 1 MiB',
      stream([delta('a') + delta('b'), `data: {"x":"${'y'.repeat(1_100_000)}"}\n\n`]),
    ],
  ] as const)(
    'a stream whose upstream %s after two tokens ends with an error event and is free',
    async (what, script) => {
      const { key, accountId } = await createTestKey(suite.db);
      suite.upstream.answer(script);
      const edge = what === 'stalls' ? hasty : suite.edge;
      const text = await (await postChat(edge.url, key, { stream: true })).text();
      expect(text.startsWith(delta('a') + delta('b'))).toBe(true);
      const rest = text.slice((delta('a') + delta('b')).length);
      expect(rest).toMatch(/^data: \{"error":\{.*\}\}\n\n$/);
      expect(rest).not.toContain('10.1.1.1');
      expect(JSON.parse(rest.slice(6)).error.code).toBe(
        what === 'stalls' ? 'upstream_timeout' : 'upstream_error',
      );
      await edge.settled();
      expect(await usageOf(suite.db, accountId)).toEqual([
        expect.objectContaining({ status: 'error', cost: '0.000000000000', output_tokens: 0 }),
      ]);
      expect(await balanceOf(suite.db, accountId)).toBe('1.000000000000');
    },
  );

  test('a stream that continues after [DONE] is complete and charged once, and the upstream is cut', async () => {
    const { key, accountId } = await createTestKey(suite.db);
    suite.upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(FULL_STREAM.join(''));
      const go = setInterval(() => response.write(': ping\n\n'), 20);
      response.on('close', () => clearInterval(go));
    });
    expect(await (await call(key)).text()).toBe(FULL_STREAM.filter((_, i) => i !== 4).join(''));
    await until(() => suite.upstream.seen.at(-1)!.aborted);
    await suite.edge.settled();
    expect(await usageOf(suite.db, accountId)).toEqual([
      expect.objectContaining({ status: 'success', input_tokens: 12, output_tokens: 34 }),
    ]);
  });

  test('a stream whose reader leaves before [DONE] holds no connection to the upstream', async () => {
    const { key, accountId } = await createTestKey(suite.db);
    const { hostname, port } = new URL(hasty.url);
    const request = (content: string): string => {
      const fields = { model: 'gateway/fast', stream: true, messages: [{ role: 'user', content }] };
      const body = JSON.stringify(fields);
      return `POST /v1/chat/completions HTTP/1.1\r\nhost: edge\r\nauthorization: Bearer ${key}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    };
    // The second answer waits for the first, which never comes: more than is held of it stops its upstream.
    let whole: SeenRequest | undefined;
    suite.upstream.answer((seen, response) => {
      if (seen.body.includes('first')) return;
      whole = seen;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(delta('x'.repeat(40_000)) + DONE_EVENT);
    });
    const client = connect(Number(port), hostname);
    client.on('error', () => undefined);
    client.write(request('first') + request('second'));
    await until(async () => (await usageOf(suite.db, accountId)).some(({ status }) => status === 'success'));
    client.destroy();
    await until(() => whole!.aborted);
  });
});
