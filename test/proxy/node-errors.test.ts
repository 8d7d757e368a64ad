import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errorTable } from '../../src/errors.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import { ask, post } from './support.js';

const REFUSED = errorTable.invalid_request.message;

/** A node that does what a test says, and remembers what it was sent. */
const routing = (nodeUrl: string, deadUrl: string) => `model_list:
  - model_name: gateway/fast
    litellm_params: { model: openai/gemma-3-4b, api_base: "${nodeUrl}", api_key: node-secret, input_cost_per_token: 0, output_cost_per_token: 0 }
    model_info: { id: node }
  - model_name: gateway/dead
    litellm_params: { model: openai/gone, api_base: "${deadUrl}", input_cost_per_token: 0, output_cost_per_token: 0 }
    model_info: { id: dead }
  - model_name: gateway/quick
    litellm_params: { model: openai/gemma-3-4b, api_base: "${nodeUrl}", input_cost_per_token: 0, output_cost_per_token: 0, timeout: 0.2, stream_timeout: 0.2 }
    model_info: { id: quick }
  - model_name: gateway/stalling
    litellm_params: { model: openai/gemma-3-4b, api_base: "${nodeUrl}", input_cost_per_token: 0, output_cost_per_token: 0, stream_timeout: 0.2 }
    model_info: { id: stalling }
router_settings: { num_retries: 0, allowed_fails: 1000, cooldown_time: 0 }
`;

describe('what a node does wrong', () => {
  let db: TestDatabase;
  let proxy: TestProxy;
  let node: Server;
  let nodeHost: string;
  let act: (response: ServerResponse) => void;
  let seen: { headers: NodeJS.Dict<string | string[]>; body: string; url: string | undefined };

  beforeAll(async () => {
    db = await createTestDatabase();
    node = createServer((request, response) => {
      let body = '';
      request.on('data', (bytes) => {
        body += bytes;
      });
      request.on('end', () => {
        seen = { headers: request.headers, body, url: request.url };
        act(response);
      });
    });
    await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
    nodeHost = `127.0.0.1:${(node.address() as AddressInfo).port}`;
    proxy = await startTestProxy(db, { config: routing(`http://${nodeHost}/v1`, 'http://127.0.0.1:1/v1') });
  });
  afterAll(async () => {
    await proxy.close();
    node.closeAllConnections();
    await new Promise((resolve) => node.close(resolve));
    await db.close();
  });

  const call = (body: unknown) => post(`${proxy.url}/v1/chat/completions`, proxy.masterKey, body);
  const answerWith =
    (status: number, body: string, headers: Record<string, string> = {}) =>
    (response: ServerResponse): void => {
      response
        .writeHead(status, { 'content-type': 'application/json', server: nodeHost, ...headers })
        .end(body);
    };

  test('it gets the request unchanged except for its own model name, and with its own key', async () => {
    act = answerWith(200, '{"model" : "gemma-3-4b","choices":[{"model":"gemma-3-4b"}],"n":1e2 }', {
      'x-node': nodeHost,
    });
    const sent =
      '{ "messages":[{"content":"\\u0041 \\"model\\":\\"gateway/fast\\""}], "model" :"gateway\\/fast","a":1.0 }';
    const response = await call(sent);
    expect(seen.body).toBe(sent.replace('"gateway\\/fast"', '"gemma-3-4b"'));
    expect(seen.url).toBe('/v1/chat/completions');
    expect(seen.headers.authorization).toBe('Bearer node-secret');
    expect(seen.headers['accept-encoding']).toBe('identity');
    expect(await response.text()).toBe(
      '{"model" : "gateway/fast","choices":[{"model":"gemma-3-4b"}],"n":1e2 }',
    );
    const names = [...response.headers.keys()].sort();
    expect(names).toEqual([
      'connection',
      'content-length',
      'content-type',
      'date',
      'keep-alive',
      // For the edge, which keeps it.
      'x-gateway-served-by',
    ]);
  });

  test.each([400, 422])(
    "its %i is passed on with its message, without the operator's addresses and keys",
    async (status) => {
      const message = `gemma-3-4b: n über 3 wird nicht unterstützt (http://${nodeHost}/v1, 10.1.2.3:8000, gpu-7.eu.acme.cloud, unix:/run/vllm.sock, node-secret)`;
      act = answerWith(
        status,
        JSON.stringify({ error: { message, type: 'BadRequestError', param: 'n', code: 400 } }),
      );
      const response = await call(ask('x'));
      expect(response.status).toBe(status);
      expect(await response.json()).toEqual({
        error: {
          message: 'gateway/fast: n über 3 wird nicht unterstützt ([…], […], […], […], […])',
          type: 'invalid_request_error',
          param: 'n',
          code: 400,
        },
      });
    },
  );

  test.each([
    ['{"detail":"n is too large"}', 'n is too large'],
    ['{"object":"error","message":"too long","code":400}', 'too long'],
    ['{"detail":[{"loc":["body","messages"],"msg":"Field required"}]}', 'messages: Field required'],
    [
      JSON.stringify({
        error: {
          message:
            "1 validation error:\n  {'type': 'string_type', 'loc': ('body', 'messages', 0, 'content'), 'msg': 'Input should be a valid string', 'input': {'host': 'gpu-7.eu.acme.cloud'}}",
        },
      }),
      'messages.0.content: Input should be a valid string',
    ],
    ['{"detail":[{"loc":["body"],"msg":"out of memory on gpu-7.eu.acme.cloud"}]}', 'out of memory on […]'],
    [
      '{"error":{"message":"CUDA error at gpu-7.eu.acme.cloud:1","param":"gpu-7.eu.acme.cloud","code":"worker7"}}',
      'CUDA error at […]',
    ],
    ['{"error":{"message":"http://10.0.0.5:8000/v1"}}', REFUSED],
    ['<html>bad</html>', REFUSED],
    ['', REFUSED],
  ])('its 400 in another format is translated: %s', async (body, message) => {
    act = answerWith(400, body);
    const response = await call(ask('x'));
    expect(response.status).toBe(400);
    const error = { message, type: 'invalid_request_error', param: null, code: 'invalid_request' };
    expect(await response.json()).toEqual({ error });
  });

  const failed = {
    error: { message: expect.any(String), type: 'upstream_error', param: null, code: 'upstream_error' },
  };

  test.each([401, 403, 404, 405, 409, 418, 500, 502, 503, 302])('its %i becomes 502', async (status) => {
    act = answerWith(status, JSON.stringify({ error: { message: `from ${nodeHost}` } }), {
      location: '/elsewhere',
    });
    const response = await call(ask('x'));
    expect(response.status).toBe(502);
    const text = await response.text();
    expect(JSON.parse(text)).toEqual(failed);
    expect(text).not.toContain('127.0.0.1');
  });

  test.each([
    ['text', answerWith(200, `nonsense from http://x`), {}],
    ['cut JSON', answerWith(200, '{"model":"gemma-3-4b","choices":['), {}],
    ['a page', answerWith(200, '<html></html>', { 'content-type': 'text/html' }), {}],
    ['no content type', answerWith(200, '{}', { 'content-type': '' }), {}],
    ['an empty body', answerWith(200, ''), {}],
    ['a reset before the head', (response: ServerResponse) => response.destroy(), {}],
    [
      'a reset within the body',
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
        response.write('{"a":', () => response.destroy());
      },
      {},
    ],
    ['an empty stream', answerWith(200, '', { 'content-type': 'text/event-stream' }), { stream: true }],
    [
      'a stream of garbage',
      answerWith(200, 'data: what\n\n', { 'content-type': 'text/event-stream' }),
      { stream: true },
    ],
    [
      'a stream that was not asked for',
      answerWith(200, 'data: {}\n\n', { 'content-type': 'text/event-stream' }),
      {},
    ],
  ])('%s becomes 502', async (_what, action, rest) => {
    act = action;
    const response = await call(ask('x', rest));
    expect(response.status).toBe(502);
    expect(await response.json()).toEqual(failed);
  });

  test('a refused connection becomes 502', async () => {
    const response = await call({ ...ask('x'), model: 'gateway/dead' });
    expect(response.status).toBe(502);
    expect(await response.json()).toEqual(failed);
  });

  test.each([
    ['7', '7'],
    ['0', '1'],
    ['99999', '3600'],
    ['Fri, 31 Dec 2027 23:59:59 GMT', '5'],
  ])('its 429 becomes 503 with Retry-After (%s → %s)', async (given, passed) => {
    act = answerWith(429, '{}', { 'retry-after': given });
    const response = await call(ask('x'));
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe(passed);
    expect(await response.json()).toMatchObject({ error: { code: 'upstream_unavailable' } });
  });

  const streamHead = { 'content-type': 'text/event-stream' };
  test.each([
    ['no head', () => undefined, false],
    [
      'half a body',
      (response: ServerResponse) =>
        response.writeHead(200, { 'content-type': 'application/json' }).write('{'),
      false,
    ],
    [
      'a head and no event',
      (response: ServerResponse) => response.writeHead(200, streamHead).flushHeaders(),
      true,
    ],
  ])('a timeout becomes 504: %s', async (_what, action, stream) => {
    act = action;
    const response = await call({ ...ask('x', { stream }), model: 'gateway/quick' });
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({
      error: { type: 'upstream_error', code: 'upstream_timeout' },
    });
  });

  test('a stream that stalls after its first event is broken, not ended', async () => {
    act = (response) => response.writeHead(200, streamHead).write('data: {"model":"gemma-3-4b"}\n\n');
    const response = await call({ ...ask('x', { stream: true }), model: 'gateway/stalling' });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });

  const errorOf = (code: unknown) =>
    `{"error":{"message":"gemma-3-4b at ${nodeHost}","code":${JSON.stringify(code)}}}`;

  test.each([
    [503, 502, 'upstream_error'],
    [429, 503, 'upstream_unavailable'],
    ['504', 504, 'upstream_timeout'],
    ['internal', 502, 'upstream_error'],
  ])(
    'an error of code %j as the first event becomes an error response, not a stream',
    async (code, status, expected) => {
      act = answerWith(200, `data: ${errorOf(code)}\n\n`, streamHead);
      const response = await call(ask('x', { stream: true }));
      const text = await response.text();
      expect([response.status, JSON.parse(text).error.code]).toEqual([status, expected]);
      expect(text).not.toContain('127.0.0.1');
    },
  );

  test('an error in place of a whole answer becomes 502', async () => {
    act = answerWith(200, errorOf(500));
    expect((await call(ask('x'))).status).toBe(502);
  });

  test.each([
    ['a stream', 'data: ', streamHead],
    ['a whole answer', '', {}],
  ])('an error of the caller that is sent with 200 becomes 400: %s', async (_what, prefix, headers) => {
    act = answerWith(200, `${prefix}${errorOf(400)}\n\n`, headers);
    const response = await call(ask('x', { stream: prefix !== '' }));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { message: 'gateway/fast at […]' } });
  });

  test('an error after the first event is passed on in our words', async () => {
    const first = 'data: {"model":"gemma-3-4b"}\n\n';
    act = (response) => {
      response.writeHead(200, streamHead).write(first, () => {
        setImmediate(() => response.end(`data: ${errorOf(500)}\n\ndata: ${errorOf(400)}\n\n`));
      });
    };
    const text = await (await call(ask('x', { stream: true }))).text();
    const events = text
      .split('\n\n')
      .filter(Boolean)
      .map((event) => JSON.parse(event.slice(6)));
    expect(events[0]).toEqual({ model: 'gateway/fast' });
    expect(events[1]).toEqual(failed);
    expect(events[2].error.message).toBe('gateway/fast at […]');
  });

  test.each([413, 431])("its %i, which isn't the node's fault, becomes 502", async (status) => {
    act = answerWith(status, '{}');
    const response = await call(ask('x'));
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({
      error: {
        code: 'request_not_taken',
        message: expect.stringMatching(/of this size or form\. Send fewer/),
      },
    });
  });

  test.each([
    ['{"model":"gateway/none"}', 'model_not_found', 'model'],
    ['{"messages":[]}', 'invalid_body', 'model'],
    ['{"model":7}', 'invalid_body', 'model'],
    ['{"model":"gateway/fast","model":"gateway/dead"}', 'invalid_body', null],
    ['[]', 'invalid_body', null],
    ['', 'invalid_body', null],
  ])("a request that can't be routed is refused with the reason: %s", async (body, code, param) => {
    const response = await call(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', code, param } });
  });

  test('a body above 12 MiB gets 413, another content type 415, an unknown path 404', async () => {
    expect((await call(`{"model":"gateway/fast","x":"${'x'.repeat(12 * 1024 * 1024)}"}`)).status).toBe(413);
    const authorization = `Bearer ${proxy.masterKey}`;
    const typed = { authorization, 'content-type': 'text/plain' };
    const other = await fetch(`${proxy.url}/v1/embeddings`, { method: 'POST', headers: typed, body: '{}' });
    expect(other.status).toBe(415);
    expect((await fetch(`${proxy.url}/v1/nothing`, { headers: { authorization } })).status).toBe(404);
  });
});
