import { createServer } from 'node:net';
import { errorTable } from '../../src/errors.js';
import {
  balanceOf,
  createTestKey,
  errorOf,
  postChat,
  startTestEdge,
  type TestKey,
  usageOf,
} from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { raw } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';

const CANARY = 'http://10.9.8.7:8000/v1';
const NOT_ROUTED =
  "{'error': '/chat/completions: Invalid model name passed in model=gateway/fast. Call `/v1/models` to view available models for your key.'}";
const nodeError = (message: string, code: unknown = null) =>
  JSON.stringify({ error: { message, type: 'x', param: 'gpu-7.eu.acme.cloud', code } });

describe('an upstream that fails', () => {
  const suite = useEdge();
  let caller: TestKey;
  beforeEach(async () => {
    caller = await createTestKey(suite.db);
  });

  const expectFree = async (code: string, httpStatus: number) => {
    await suite.edge.settled();
    expect(await usageOf(suite.db, caller.accountId)).toEqual([
      expect.objectContaining({
        status: 'error',
        error_code: code,
        http_status: httpStatus,
        cost: '0.000000000000',
      }),
    ]);
    expect(await balanceOf(suite.db, caller.accountId)).toBe('1.000000000000');
  };

  test.each([400, 422])("with the caller's own %i passes its status and cleaned message", async (status) => {
    suite.upstream.answer(
      raw(
        status,
        nodeError(
          `temperature must be below 2 in this request, got 3 (${CANARY}, gpu-7.eu.acme.cloud, unix:/run/vllm.sock)`,
        ),
      ),
    );
    const response = await postChat(suite.edge.url, caller.key);
    expect(response.status).toBe(status);
    const error = await errorOf(response);
    expect(error).toEqual({
      message: 'temperature must be below 2 in this request, got 3 ([…], […], […])',
      type: 'invalid_request_error',
      param: null,
      code: 'invalid_request',
    });
    await expectFree('invalid_request', status);
  });

  test.each([401, 403, 404, 500, 502, 503])(
    'with %i is a 502 upstream_error that tells nothing of it',
    async (status) => {
      suite.upstream.answer(raw(status, nodeError(`failed at ${CANARY}`), { 'x-node': CANARY }));
      const response = await postChat(suite.edge.url, caller.key);
      expect(response.status).toBe(502);
      expect(JSON.stringify([...response.headers]) + (await response.clone().text())).not.toContain(
        '10.9.8.7',
      );
      expect(await errorOf(response)).toMatchObject({
        type: 'upstream_error',
        code: 'upstream_error',
        param: null,
      });
      await expectFree('upstream_error', 502);
    },
  );

  test.each([
    ['429', raw(429, nodeError('No deployments available, ids=[a,b]'), { 'retry-after': '7' }), '7'],
    [
      '503 of a parked group',
      raw(503, nodeError('parked', 'upstream_unavailable'), { 'retry-after': '60' }),
      '59',
    ],
    ['429 for ten minutes', raw(429, 'no json', { 'retry-after': '600' }), '59'],
    ['429 without Retry-After', raw(429, 'no json'), '5'],
    ['400 for a model that it does not route', raw(400, nodeError('words', 'model_not_found')), '5'],
    ['the same in the words of LiteLLM', raw(400, nodeError(NOT_ROUTED, '400')), '5'],
  ])('with %s is a 503 upstream_unavailable with Retry-After', async (_what, script, retryAfter) => {
    suite.upstream.answer(script);
    const response = await postChat(suite.edge.url, caller.key);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe(retryAfter);
    expect(Number(response.headers.get('retry-after-ms'))).toBeLessThan(60_000);
    expect(Math.ceil(Number(response.headers.get('retry-after-ms')) / 1_000)).toBeGreaterThanOrEqual(
      Number(retryAfter),
    );
    const error = await errorOf(response);
    expect(error.code).toBe('upstream_unavailable');
    expect(error.message).toBe(errorTable.upstream_unavailable.message);
    await expectFree('upstream_unavailable', 503);
  });

  test.each([
    ['413', raw(413, nodeError('Request Entity Too Large'))],
    ['415', raw(415, 'no json')],
    ['502 of the bundled proxy, which got one', raw(502, nodeError('words', 'request_not_taken'))],
  ])("with %s is a 502 that SDKs don't retry, and says what to change", async (_what, script) => {
    suite.upstream.answer(script);
    const response = await postChat(suite.edge.url, caller.key);
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([502, 'false']);
    expect(await errorOf(response)).toMatchObject({
      code: 'upstream_error',
      message: expect.stringContaining('Send fewer or smaller messages, images or inputs.'),
    });
    await expectFree('upstream_error', 502);
  });

  test.each([
    ['garbage', raw(200, 'I am no JSON')],
    ['truncated JSON', raw(200, '{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":1')],
    ['JSON of another kind', raw(200, '{"hello":"world"}')],
    ['a list', raw(200, '[]')],
    ['another content type', raw(200, '{"choices":[]}', { 'content-type': 'text/html' })],
    ['an empty body', raw(200, '')],
  ])('with 200 and %s is a 502 upstream_error', async (_what, script) => {
    suite.upstream.answer(script);
    const response = await postChat(suite.edge.url, caller.key);
    expect(response.status).toBe(502);
    expect((await errorOf(response)).code).toBe('upstream_error');
    await expectFree('upstream_error', 502);
  });

  test('with an error body that never ends is answered at once, and cut', async () => {
    suite.upstream.answer((_request, response) => {
      response.writeHead(500, { 'content-type': 'application/json' });
      const go = setInterval(() => response.write('x'.repeat(10_000)), 10);
      response.on('close', () => clearInterval(go));
    });
    const response = await postChat(suite.edge.url, caller.key);
    expect(response.status).toBe(502);
    await until(() => suite.upstream.seen.at(-1)!.aborted);
    await expectFree('upstream_error', 502);
  });

  test('by resetting the connection is a 502 upstream_error', async () => {
    suite.upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"choices"');
      setImmediate(() => response.socket?.resetAndDestroy());
    });
    const response = await postChat(suite.edge.url, caller.key);
    expect(response.status).toBe(502);
    await expectFree('upstream_error', 502);
  });

  test.each([
    ['an error event', 'data: {"error":{"message":"x"}}\n\n'],
    ['an end without [DONE]', ''],
  ])('in the same piece as the first tokens passes them, then ends the stream: %s', async (_what, end) => {
    suite.upstream.answer((_request, response) => {
      const token = 'data: {"choices":[{"delta":{"content":"token"}}]}\n\n';
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${token}${token}${end}`);
    });
    const response = await postChat(suite.edge.url, caller.key, { stream: true });
    expect(response.status).toBe(200);
    const events = (await response.text()).split('\n\n');
    expect(events.slice(0, 2).every((event) => event.includes('token'))).toBe(true);
    expect(events[2]).toContain('"code":"upstream_error"');
    expect(events.slice(3)).toEqual(['']);
    await expectFree('upstream_error', 200);
  });

  test('to answer in time is a 504 upstream_timeout', async () => {
    suite.upstream.answer(() => undefined);
    const hasty = await startTestEdge(suite.db, {
      upstreamUrl: suite.upstream.url,
      env: { UPSTREAM_TIMEOUT_SECONDS: '0.5' },
    });
    try {
      const response = await postChat(hasty.url, caller.key);
      expect(response.status).toBe(504);
      expect((await errorOf(response)).code).toBe('upstream_timeout');
      await hasty.settled();
      await expectFree('upstream_timeout', 504);
    } finally {
      await hasty.close();
    }
  });

  test('to be there is a 502 upstream_error', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    const port = await new Promise<number>((done) =>
      closed.on('listening', () => done((closed.address() as { port: number }).port)),
    );
    await new Promise((done) => closed.close(done));
    const lonely = await startTestEdge(suite.db, { upstreamUrl: `http://127.0.0.1:${port}` });
    try {
      const response = await postChat(lonely.url, caller.key);
      expect(response.status).toBe(502);
      expect((await errorOf(response)).message).not.toContain('127.0.0.1');
      await lonely.settled();
      await expectFree('upstream_error', 502);
    } finally {
      await lonely.close();
    }
  });
});
