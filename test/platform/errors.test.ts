import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { fetch } from 'undici';
import { openOrm } from '../../src/db/orm.js';
import { schemaIsCurrent } from '../../src/db/schema-version.js';
import { systemClock } from '../../src/lib/clock.js';
import { newApiKey } from '../../src/lib/key-form.js';
import { createLogger } from '../../src/lib/logger.js';
import { createRegistry } from '../../src/lib/metrics.js';
import { createPlatform } from '../../src/platform/app.js';
import { createSignalBoard } from '../../src/services/live/signals.js';
import { rawSocket } from '../graphql/raw-socket.js';
import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';

const NOBODY = '0193c1c0-0000-7000-8000-000000000000';
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('responses to bad requests', () => {
  const suite = usePlatform();

  const post = async (body: string | Buffer, headers: Record<string, string> = {}) => {
    const response = await fetch(`${suite.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    return {
      status: response.status,
      body: (await response.json()) as ErrorAnswer,
      headers: response.headers,
    };
  };

  test('have one format and a request ID', async () => {
    const answer = await post('{}');
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({
      error: {
        message: expect.any(String),
        type: 'invalid_request_error',
        param: null,
        code: 'validation_error',
        details: [
          { field: 'email', message: expect.any(String) },
          { field: 'password', message: expect.any(String) },
        ],
      },
    });
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('x-request-id')).toMatch(UUID_V7);
  });

  test.each([
    ['{', 'The body is not valid JSON.'],
    ['{"a":', 'The body is not valid JSON.'],
    ['null x', 'The body is not valid JSON.'],
    ['\u0000', 'The body is not valid JSON.'],
    [
      '{"email":"a","__proto__":{}}',
      'The body must not have members named __proto__, or prototype in constructor.',
    ],
    ['', 'This request requires a JSON body.'],
  ])('malformed JSON %j answers 400', async (body, message) => {
    const { status, body: answer } = await post(body);
    expect([status, answer.error.code, answer.error.message]).toEqual([400, 'invalid_body', message]);
  });

  test('an API key in place of a session gets an error that says where it works', async () => {
    for (const [method, path] of [
      ['GET', '/api/auth/me'],
      ['POST', '/api/keys'],
      ['GET', '/api/admin/users'],
    ] as const) {
      const answer = await call<ErrorAnswer>(suite.url, method, path, { token: newApiKey() });
      expect([answer.status, answer.body.error.code, answer.body.error.message]).toEqual([
        401,
        'unauthorized',
        'API keys work only under /v1. Log in and send the access token.',
      ]);
    }
  });

  test("a 404 names what doesn't exist", async () => {
    const { token } = await signUp(suite.url);
    for (const [path, message] of [
      ['keys/no-uuid', 'There is no API key with this ID.'],
      [`widgets/${NOBODY}`, 'There is no widget with this ID.'],
      [`usage/${NOBODY}`, 'There is no call with this ID.'],
      ['prompts/no-slug', 'There is no prompt with this ID or slug.'],
      ['nothing', 'There is nothing at this address.'],
    ]) {
      const answer = await call<ErrorAnswer>(suite.url, 'GET', `/api/${path}`, { token });
      expect([path, answer.status, answer.body.error.message]).toEqual([path, 404, message]);
    }
  });

  test.each(['[]', '"text"', '1', 'true', 'null'])(
    '%s, JSON but no object, is answered with 422',
    async (body) => {
      const answer = await post(body);
      expect([answer.status, answer.body.error.details?.[0]?.field]).toEqual([422, 'body']);
    },
  );

  test('a body that is not UTF-8 answers 400', async () => {
    const answer = await post(Buffer.from('{"email":"a@b.cc","password":"\xff\xfe"}', 'latin1'));
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_body']);
    expect(answer.body.error.message).toContain('UTF-8');
  });

  test('a single invalid field is the param', async () => {
    const { body } = await post('{"email":"a@b.cc"}');
    expect([body.error.code, body.error.param]).toEqual(['validation_error', 'password']);
  });

  test('unknown fields are named', async () => {
    const answer = await post('{"email":"a@b.cc","password":"x","remember":true,"a.b":1}');
    expect(answer.status).toBe(422);
    expect(answer.body.error.details).toEqual([
      { field: 'remember', message: 'is not a known field' },
      { field: 'a.b', message: 'is not a known field' },
    ]);
  });

  test('an unknown field is quoted up to its first 200 bytes', async () => {
    const answer = await post(JSON.stringify({ ['é'.repeat(101)]: 1, ['x'.repeat(5_000)]: 2 }));
    const fields = answer.body.error.details!.map(({ field }) => field);
    expect(fields).toEqual(expect.arrayContaining([`${'é'.repeat(100)}…`, `${'x'.repeat(200)}…`]));
  });

  test('at most 100 faults are listed', async () => {
    const fields = Array.from({ length: 1_500 }, (_, n) => [`f${n}`, 0]);
    const answer = await post(JSON.stringify(Object.fromEntries(fields)));
    expect([answer.status, answer.body.error.details?.length]).toEqual([422, 100]);
  });

  test.each([16 * 1024 + 1, 5 * 1024 * 1024])('a body of %i bytes answers 413', async (bytes) => {
    const answer = await post(`{"email":"${'a'.repeat(bytes)}"}`).catch((error: unknown) => error as Error);
    // A server that answers early may cut a client that is still writing.
    if (answer instanceof Error) expect(bytes).toBeGreaterThan(1024 * 1024);
    else {
      expect([answer.status, answer.body.error]).toMatchObject([
        413,
        { code: 'body_too_large', message: 'The body is larger than 16 KiB.' },
      ]);
    }
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'application/jsonp', ''])(
    'the content type %j answers 415',
    async (type) => {
      const answer = await post('{}', { 'content-type': type });
      expect([answer.status, answer.body.error.code]).toEqual([415, 'unsupported_media_type']);
    },
  );

  test('an empty form answers 415, since another site can send one', async () => {
    const answer = await post('', { 'content-type': 'application/x-www-form-urlencoded' });
    expect([answer.status, answer.body.error.code]).toEqual([415, 'unsupported_media_type']);
  });

  test.each(['gzip', 'br', 'deflate', 'gzip, identity'])(
    'the content encoding %s answers 415',
    async (encoding) => {
      const answer = await post('{}', { 'content-encoding': encoding });
      expect([answer.status, answer.body.error.code]).toEqual([415, 'unsupported_media_type']);
    },
  );

  test.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json;charset=UTF-8'])(
    'the content type %s is JSON',
    async (type) => {
      expect((await post('{}', { 'content-type': type })).status).toBe(422);
    },
  );

  test.each([
    ['GET', '/api/nothing'],
    ['POST', '/api/auth/me'],
    ['GET', '/api/auth/me/'],
    ['GET', '//api/auth/me'],
    ['GET', '/API/auth/me'],
    ['GET', '/api/auth%2fme'],
    ['GET', '/api/auth/me;x'],
    ['GET', '/api/%zz'],
    ['GET', '/api/%c0%af'],
    ['OPTIONS', '/api/auth/me'],
    ['GET', `/api/admin/users/${'x'.repeat(200)}`],
  ])('%s %s answers 404', async (method, path) => {
    const answer = await call<ErrorAnswer>(suite.url, method, path);
    expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
    expect(answer.headers.get('x-request-id')).toMatch(UUID_V7);
  });

  test.each([
    ['POST', '/chat/completions'],
    ['POST', '/embeddings?x=1'],
    ['GET', '/models'],
    ['GET', '/models/'],
    ['POST', '/openai/v1/chat/completions'],
    ['POST', '/openai/deployments/gateway-fast/chat/completions?api-version=2024-10-21'],
    ['POST', '/api/v1/embeddings'],
    ['GET', '/V1/models'],
    ['POST', '/v1beta/openai/responses'],
    ['POST', '/api/chat'],
  ])('%s %s gets the base URL to set', async (method, path) => {
    const { status, body } = await call<ErrorAnswer>(suite.url, method, path);
    expect([status, body.error]).toMatchObject([
      404,
      {
        code: 'not_found',
        message: expect.stringMatching(
          /below \/v1\. Set the base URL to http\S+\/v1: the path is then \/v1\/\S+\.$/,
        ),
      },
    ]);
  });

  test('invalid HTTP and endless headers are answered too', async () => {
    const raw = async (request: string): Promise<string> => {
      const socket = connect(Number(new URL(suite.url).port), '127.0.0.1');
      socket.write(request);
      return readText(socket);
    };
    expect(await raw('nonsense\r\n\r\n')).toMatch(/^HTTP\/1.1 400 .*"code":"invalid_request"/s);
    const endless = `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`;
    expect(await raw(endless)).toMatch(/^HTTP\/1.1 431 .*"code":"headers_too_large"/s);
  });

  test('headers of 60 KB are accepted, as by the edge', async () => {
    const headers = { 'x-padding': 'y'.repeat(60_000) };
    expect((await call(suite.url, 'GET', '/api/plans', { headers })).status).toBe(200);
  });

  test('responses of the API are closed to browsers of other sites', async () => {
    const { token } = await signUp(suite.url);
    const answer = await call(suite.url, 'GET', '/api/auth/me', { token });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'x-request-id': expect.stringMatching(UUID_V7),
    });
    expect(answer.headers.has('strict-transport-security')).toBe(false);
  });
});

describe('responses while the database is unavailable', () => {
  const suite = usePlatform();

  test('are 503 with Retry-After, over WebSocket a close with 1013, and reveal nothing about it', async () => {
    const orm = openOrm({ databaseUrl: 'postgres://127.0.0.1:1/away', processName: 'test' });
    const running = suite.platform;
    const lines: string[] = [];
    const log = createLogger('test', 'silent');
    const { app, close } = await createPlatform({
      config: running.config,
      services: running.services,
      orm,
      clock: systemClock,
      log,
      registry: createRegistry('test'),
      signals: createSignalBoard(),
      ready: () => schemaIsCurrent(orm),
    });
    try {
      const { token } = await signUp(running.url);
      const headers = { authorization: `Bearer ${token}` };
      const answer = await app.inject({ method: 'GET', url: '/api/auth/me', headers });
      expect([answer.statusCode, answer.json<ErrorAnswer>().error.code]).toEqual([
        503,
        'service_unavailable',
      ]);
      expect(answer.headers['retry-after']).toBe('2');
      expect(answer.body).not.toMatch(/127\.0\.0\.1|ECONNREFUSED|postgres/);
      const operate = (headers: Record<string, string>) =>
        app.inject({ method: 'POST', url: '/graphql', headers, payload: { query: '{ plans { name } }' } });
      const refused = await operate(headers);
      expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '2']);
      const failed = await operate({});
      for (const { body } of [refused, failed]) {
        expect(JSON.parse(body)).toMatchObject({
          errors: [{ extensions: { code: 'service_unavailable', retryAfterSeconds: 2 } }],
        });
        expect(body).not.toMatch(/127\.0\.0\.1|ECONNREFUSED|postgres/);
      }
      const socket = await rawSocket(await app.listen({ host: '127.0.0.1', port: 0 }));
      socket.say({ type: 'connection_init', payload: headers });
      expect(await socket.closed()).toEqual({
        code: 1013,
        reason: 'The service is temporarily unavailable',
      });
      expect(lines).toEqual([]);
      expect((await app.inject('/health')).json()).toEqual({ status: 'ok' });
      const ready = await app.inject('/health/ready');
      expect([ready.statusCode, ready.json()]).toEqual([503, { status: 'unavailable' }]);
      const serving = await call(running.url, 'GET', '/health/ready');
      expect([serving.status, serving.body]).toEqual([200, { status: 'ok' }]);
    } finally {
      await close();
      await orm.close(true);
    }
  });
});
