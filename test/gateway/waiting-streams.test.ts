import { open, statusesOf } from '../hostile/raw.js';
import { balanceOf, createTestKey, postChat, startTestEdge, type TestKey, usageOf } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { chat, DONE_EVENT, FULL_STREAM, raw, type Script, stream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { createTestWidget, say } from '../widgets/edge-support.js';
import { ANSWER, bounds, commentsIn, held, waiting, withoutComments } from './waiting-stream.js';

const CHAT = { model: 'gateway/fast', messages: [{ role: 'user', content: 'Hi' }] };

const typesIn = (text: string): string[] => [...text.matchAll(/^event: (.+)$/gm)].map(([, type]) => type!);

describe('a stream whose node is silent', () => {
  const suite = useEdge({ bounds, env: { RESPONSES_API: '1' } });
  let caller: TestKey;
  beforeEach(async () => {
    caller = await createTestKey(suite.db);
  });

  const askResponses = (url = suite.edge.url) =>
    fetch(`${url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}` },
      body: JSON.stringify({ model: 'gateway/fast', input: 'Hi', stream: true }),
    });
  const ask = () => postChat(suite.edge.url, caller.key, { stream: true });
  const lastEvent = async (accountId = caller.accountId) => {
    await suite.edge.settled();
    return (await usageOf(suite.db, accountId)).at(-1)!;
  };

  test('begins with comments before its node has answered, and is charged like any other', async () => {
    const release = held(suite.upstream, stream(FULL_STREAM));
    const response = await ask();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('x-ratelimit-limit-requests')).not.toBeNull();
    const { text, whole } = await waiting(response);
    expect(withoutComments(text())).toBe('');
    release();
    expect(withoutComments(await whole)).toBe(ANSWER);
    expect(await lastEvent()).toMatchObject({
      id: response.headers.get('x-request-id'),
      status: 'success',
      http_status: 200,
      cost: '0.000011400000',
    });
  });

  test('has comments between two tokens', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    suite.upstream.answer(async (_request, response) => {
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write(FULL_STREAM.slice(0, 2).join(''));
      await promise;
      response.end(FULL_STREAM.slice(2).join(''));
    });
    const { text, whole } = await waiting(await ask());
    expect(text().startsWith(FULL_STREAM.slice(0, 2).join(''))).toBe(true);
    resolve();
    expect(withoutComments(await whole)).toBe(ANSWER);
  });

  const TOO_LONG = {
    message: 'Too long.',
    type: 'invalid_request_error',
    param: 'messages',
    code: 'context_length_exceeded',
  };
  const tooLong = JSON.stringify({ error: TOO_LONG });

  test.each<[string, Script, string, string, number]>([
    ['a refusal', raw(400, tooLong), 'context_length_exceeded', 'invalid_request', 400],
    [
      'a refusal as its first event',
      stream([`data: ${tooLong}\n\n`]),
      'context_length_exceeded',
      'invalid_request',
      400,
    ],
    ['an error', raw(500, '{}'), 'upstream_error', 'upstream_error', 502],
    ['too many requests', raw(429, '{}'), 'upstream_unavailable', 'upstream_unavailable', 503],
    ['a whole answer', chat(), 'upstream_error', 'upstream_error', 502],
    ['nothing at all', stream([]), 'upstream_error', 'upstream_error', 502],
    [
      'a reset',
      (_request, response) => response.socket!.resetAndDestroy(),
      'upstream_error',
      'upstream_error',
      502,
    ],
  ])(
    'ends with an error event if %s follows the comments, and is free',
    async (_what, script, shown, code, status) => {
      const release = held(suite.upstream, script);
      const { whole } = await waiting(await ask());
      release();
      const event = withoutComments(await whole);
      expect(event).toMatch(/^data: \{"error":\{.*\}\}\n\n$/);
      const { error } = JSON.parse(event.slice('data: '.length));
      expect(error).toEqual({
        message: expect.any(String),
        type: expect.any(String),
        param: code === 'invalid_request' ? 'messages' : null,
        code: shown,
      });
      expect(await lastEvent()).toMatchObject({
        status: 'error',
        error_code: code,
        http_status: status,
        cost: '0.000000000000',
      });
      expect(await balanceOf(suite.db, caller.accountId)).toBe('1.000000000000');
    },
  );

  test('times out as early as without comments', async () => {
    const hasty = await startTestEdge(suite.db, {
      ...{ upstreamUrl: suite.upstream.url, bounds },
      env: { UPSTREAM_TIMEOUT_SECONDS: '1' },
    });
    try {
      suite.upstream.answer(() => undefined);
      const { whole } = await waiting(await postChat(hasty.url, caller.key, { stream: true }));
      expect(await whole).toContain('"code":"upstream_timeout"');
      await hasty.settled();
      expect((await usageOf(suite.db, caller.accountId)).at(-1)).toMatchObject({
        error_code: 'upstream_timeout',
        http_status: 504,
      });
    } finally {
      await hasty.close();
    }
  });

  test('ends its call to the node when the caller leaves, and is free', async () => {
    suite.upstream.answer(() => undefined);
    const leaving = new AbortController();
    const response = await fetch(`${suite.edge.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}` },
      body: JSON.stringify({ ...CHAT, stream: true }),
      signal: leaving.signal,
    });
    await waiting(response);
    leaving.abort();
    await until(() => suite.upstream.seen.at(-1)!.aborted, { what: 'the node to be left' });
    expect(await lastEvent()).toMatchObject({
      error_code: 'client_closed_request',
      http_status: 499,
      client_aborted: true,
      cost: '0.000000000000',
    });
  });

  test('ends with an error event when the edge stops', async () => {
    const edge = await startTestEdge(suite.db, { upstreamUrl: suite.upstream.url, bounds });
    suite.upstream.answer(() => undefined);
    const { whole } = await waiting(await postChat(edge.url, caller.key, { stream: true }));
    await edge.edge.close(0);
    expect(await whole).toContain('"code":"service_unavailable"');
    await edge.close();
  });

  test('of /v1/responses begins its response, then has comments', async () => {
    const release = held(suite.upstream, stream(FULL_STREAM));
    const { text, whole } = await waiting(await askResponses());
    expect(typesIn(text())).toEqual(['response.created', 'response.in_progress']);
    release();
    expect(typesIn(await whole).at(-1)).toBe('response.completed');
    expect(await lastEvent()).toMatchObject({ status: 'success', cost: '0.000011400000' });
  });

  test('of /v1/responses fails with the events and names of that API', async () => {
    const release = held(suite.upstream, raw(400, tooLong));
    const { whole } = await waiting(await askResponses());
    release();
    const text = await whole;
    expect(typesIn(text).slice(-2)).toEqual(['response.failed', 'error']);
    expect(text).toContain('"code":"context_length_exceeded","message":"Too long.","param":"input"');
  });

  test('of /v1/responses gets a comment for chunks that have no event in that API', async () => {
    const edge = await startTestEdge(suite.db, {
      ...{ upstreamUrl: suite.upstream.url, env: { RESPONSES_API: '1' } },
      bounds: { firstCommentMs: 600_000, nextCommentMs: 600_000 },
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    suite.upstream.answer(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(FULL_STREAM[0]);
      await promise;
      response.end(FULL_STREAM.slice(1).join(''));
    });
    const { text, whole } = await waiting(await askResponses(edge.url), 1);
    expect(typesIn(text())).toEqual(['response.created', 'response.in_progress']);
    resolve();
    expect(typesIn(await whole).at(-1)).toBe('response.completed');
    await edge.close();
  });

  test('of a widget has comments, then its answer', async () => {
    const widget = await createTestWidget(suite.db);
    const release = held(suite.upstream, stream(FULL_STREAM));
    const { whole } = await waiting(await say(suite.edge.url, widget.publicKey, { body: { stream: true } }));
    release();
    const text = await whole;
    expect(text).toContain('"content":"lo."');
    expect(text.endsWith(DONE_EVENT)).toBe(true);
    expect(await lastEvent(widget.accountId)).toMatchObject({ status: 'success', cost: '0.000011400000' });
  });

  test.each<[Script, string]>([
    [raw(400, tooLong), 'invalid_request'],
    [raw(429, '{}'), 'upstream_unavailable'],
    [raw(500, '{}'), 'upstream_error'],
  ])('of a widget fails with the same code as a whole answer', async (script, code) => {
    const { publicKey } = await createTestWidget(suite.db);
    const release = held(suite.upstream, script);
    const { whole } = await waiting(await say(suite.edge.url, publicKey, { body: { stream: true } }));
    release();
    const text = await whole;
    expect(text).toContain(`"code":"${code}"`);
    expect(text).not.toContain('Too long.');
  });

  describe('over a raw connection', () => {
    const request = (fields: object, version = '1.1'): string => {
      const body = JSON.stringify({ ...CHAT, ...fields });
      const head = [
        `POST /v1/chat/completions HTTP/${version}`,
        'host: gateway.test',
        `authorization: Bearer ${caller.key}`,
        `content-length: ${body.length}`,
      ];
      return [...head, '', body].join('\r\n');
    };
    const connection = (bytes: string) => {
      const socket = open(suite.edge.url);
      let text = '';
      socket.setEncoding('latin1').on('data', (part) => (text += part));
      const closed = new Promise<void>((done) => socket.once('close', () => done()));
      socket.write(bytes);
      return { text: () => text, closed, socket };
    };

    test('is not chunked for HTTP/1.0', async () => {
      const release = held(suite.upstream, stream(FULL_STREAM));
      const { text, closed } = connection(request({ stream: true }, '1.0'));
      await until(() => commentsIn(text()) >= 2, { what: 'comments' });
      release();
      await closed;
      const end = text().indexOf('\r\n\r\n') + 4;
      expect(text().slice(0, end)).not.toMatch(/transfer-encoding/i);
      expect(withoutComments(text().slice(end))).toBe(ANSWER);
    });

    test('arrives whole and in order among other answers', async () => {
      const release = held(suite.upstream, (asked, response) =>
        (JSON.parse(asked.body).stream ? stream(FULL_STREAM) : chat())(asked, response),
      );
      const calls = [{ stream: true }, {}, { stream: true }];
      const { text, socket } = connection(calls.map((fields) => request(fields)).join(''));
      await until(() => commentsIn(text()) >= 1, { what: 'comments' });
      // When this one has two, the third of them has at least one.
      await waiting(await ask(), 2);
      release();
      await until(() => text().split(DONE_EVENT).length === 3, { what: 'all answers' });
      socket.destroy();
      expect(statusesOf(text())).toEqual([200, 200, 200]);
      const types = [...text().matchAll(/content-type: ([\w/-]+)/gi)].map(([, type]) => type);
      expect(types).toEqual(['text/event-stream', 'application/json', 'text/event-stream']);
      const third = text().slice(text().lastIndexOf('HTTP/1.1 200'));
      expect(commentsIn(third)).toBeGreaterThan(0);
      // Without the headers, and without the length and line ends of each chunk.
      const body = third.slice(third.indexOf('\r\n\r\n') + 4).replaceAll(/^[\da-f]+\r\n|\r\n/gm, '');
      expect(withoutComments(body)).toBe(ANSWER);
    });
  });
});
