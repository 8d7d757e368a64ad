import { createVirtualKeyClient } from '../../src/services/keys/virtual-keys.js';
import { call, signUp } from '../support/api.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { balanceOf, errorOf, postChat, startTestEdge, type TestEdge, usageOf } from '../support/edge.js';
import {
  failure,
  json,
  LITELLM_CANARIES,
  type LiteLlmDouble,
  type LiteLlmScript,
  startLiteLlm,
  stream,
  whole,
} from '../support/litellm.js';
import { startTestPlatform, type TestPlatform } from '../support/platform.js';
import { TEST_SECRETS } from '../support/secrets.js';
import { until } from '../support/until.js';

interface Expected {
  status: number;
  code: string;
  retryAfter: string | null;
  message?: string;
}

const VLLM = 'max_tokens must be at least 1, got 0.';
const GROUPS = ". Received Model Group=gateway/fast\nAvailable Model Group Fallbacks=['gateway/qwen-fast']";
const NO_DEPLOYMENT =
  "No deployments available for selected model, Try again in 42 seconds. Passed model=gateway/fast. pre-call-checks=False, cooldown_list=['deployment-id-1', 'b']";

/** Edge and platform in front of a LiteLLM instead of the bundled model proxy. */
describe('with a LiteLLM upstream', () => {
  let db: TestDatabase;
  let litellm: LiteLlmDouble;
  let platform: TestPlatform;
  let edge: TestEdge;
  let token: string;
  let accountId: string;
  let key: string;

  beforeAll(async () => {
    db = await createTestDatabase();
    litellm = await startLiteLlm(TEST_SECRETS.UPSTREAM_MASTER_KEY);
    platform = await startTestPlatform(db, {
      env: { UPSTREAM_URL: litellm.url },
      virtualKeys: createVirtualKeyClient({ url: litellm.url, masterKey: litellm.masterKey }),
    });
    edge = await startTestEdge(db, { upstreamUrl: litellm.url, platformUrl: platform.url });
    const made = await signUp(edge.url);
    token = made.token;
    accountId = made.user.id;
    await db.pool.query("update accounts set plan_id = 'team' where id = $1", [accountId]);
    key = await newKey();
  });
  afterAll(async () => {
    await edge?.close();
    await platform?.close();
    await litellm?.close();
    await db?.close();
  });

  async function newKey(): Promise<string> {
    const { body } = await call<{ key: string; api_key: { has_upstream: boolean } }>(
      edge.url,
      'POST',
      '/api/keys',
      { token, body: { name: 'of a test' } },
    );
    expect(body.api_key.has_upstream).toBe(true);
    return body.key;
  }
  const lastEvent = async () => {
    await edge.settled();
    return (await usageOf(db, accountId)).at(-1);
  };
  const nothingLeaks = async (response: Response): Promise<string> => {
    const text = await response.text();
    const shown = `${JSON.stringify([...response.headers])}\n${text}`;
    expect(LITELLM_CANARIES.filter((canary) => shown.includes(canary))).toEqual([]);
    expect(response.headers.get('set-cookie')).toBeNull();
    return text;
  };

  test('a key gets its virtual key there, which is deleted with the key', async () => {
    const before = litellm.keys.size;
    const { body } = await call<{ api_key: { id: string } }>(edge.url, 'POST', '/api/keys', {
      token,
      body: { name: 'short-lived' },
    });
    expect(litellm.keys.size).toBe(before + 1);
    expect([...litellm.keys.values()].at(-1)).toBe(accountId);
    const gone = await call(edge.url, 'DELETE', `/api/keys/${body.api_key.id}`, { token });
    expect(gone.status).toBe(204);
    await until(() => litellm.keys.size === before);
  });

  test('a virtual key that is already deleted there counts as removed, alone and among others', async () => {
    const client = createVirtualKeyClient({ url: litellm.url, masterKey: litellm.masterKey });
    const standing = await client.generate({ accountId: 'a', alias: 'x' });
    const before = litellm.keys.size;
    await client.remove(['sk-gone-0123456789']);
    await client.remove(['sk-gone-0123456789', standing, 'sk-gone-as-well']);
    expect(litellm.keys.size).toBe(before - 1);
  });

  test('an answer is passed without its headers and charged by its usage', async () => {
    litellm.answer(whole());
    const response = await postChat(edge.url, key);
    const text = await nothingLeaks(response);
    expect([response.status, JSON.parse(text).model]).toEqual([200, 'gateway/fast']);
    expect(response.headers.get('x-ratelimit-remaining-requests')).not.toBe('31337');
    expect(await lastEvent()).toMatchObject({ status: 'success', input_tokens: 12, output_tokens: 34 });
  });

  test.each([
    ['the public name of the stand-in', 'gateway/qwen-fast', 'gateway/qwen-fast'],
    ["the node's own name, as after its fallback", 'hosted_vllm/gemma-3-4b', 'gateway/fast'],
  ])('the model that served is recorded: %s', async (_what, model, recorded) => {
    litellm.answer(whole({ model }));
    const text = await nothingLeaks(await postChat(edge.url, key));
    expect(JSON.parse(text).model).toBe(recorded);
    expect(await lastEvent()).toMatchObject({ served_model: recorded });
    litellm.answer(stream({ model }));
    expect(await nothingLeaks(await postChat(edge.url, key, { stream: true }))).toContain(
      `"model":"${recorded}"`,
    );
    expect(await lastEvent()).toMatchObject({ served_model: recorded, output_tokens: 34 });
  });

  test.each([
    ['not asked for: the chunk is not passed on', undefined, 0],
    ['asked for: it is', { include_usage: true }, 1],
  ])('usage of a stream is %s', async (_what, options, chunks) => {
    litellm.answer(stream());
    const text = await nothingLeaks(await postChat(edge.url, key, { stream: true, stream_options: options }));
    expect(litellm.seen.at(-1)!.stream_options).toEqual({ include_usage: true });
    expect(text.match(/"usage":\{/g) ?? []).toHaveLength(chunks);
    expect(text.match(/"finish_reason":"stop"/g)).toHaveLength(1);
    expect(await lastEvent()).toMatchObject({ input_tokens: 12, output_tokens: 34, estimated: false });
  });

  test('a stream without its usage is estimated and flagged', async () => {
    litellm.answer(stream({ usage: false }));
    await nothingLeaks(await postChat(edge.url, key, { stream: true }));
    expect(await lastEvent()).toMatchObject({ status: 'success', output_tokens: 3, estimated: true });
  });

  test('a virtual key that it has lost is an upstream error, not a 401', async () => {
    const lost = await newKey();
    litellm.keys.delete([...litellm.keys.keys()].at(-1)!);
    const response = await postChat(edge.url, lost);
    expect(response.status).toBe(502);
    expect(await nothingLeaks(response)).toContain('"code":"upstream_error"');
  });

  const unavailable = { status: 503, code: 'upstream_unavailable', retryAfter: '5' };
  const failed = { status: 502, code: 'upstream_error', retryAfter: null };
  const refused = { status: 400, code: 'invalid_request', retryAfter: null };
  const cases: [string, LiteLlmScript, Expected][] = [
    [
      'a budget, as 400 of old',
      failure(400, 'Budget has been exceeded! Current cost: 0.001, Max budget: 0.0', 'auth_error'),
      unavailable,
    ],
    [
      'a budget, as 400',
      failure(400, 'Budget has been exceeded! Current cost: 26.07, Max budget: 0.25', 'budget_exceeded'),
      unavailable,
    ],
    [
      'a budget, as 429',
      failure(429, 'LiteLLM User: x, exceeded budget for model=hosted_vllm/y', 'budget_exceeded'),
      unavailable,
    ],
    [
      'a budget of another LiteLLM behind it',
      failure(
        400,
        `litellm.BadRequestError: OpenAIException - Budget has been exceeded! Current cost: 14, Max budget: 10${GROUPS}`,
        null,
      ),
      unavailable,
    ],
    ['a parked group', failure(429, NO_DEPLOYMENT), { ...unavailable, retryAfter: '42' }],
    ['a parked group, as 400', failure(400, NO_DEPLOYMENT, null), { ...unavailable, retryAfter: '42' }],
    ['a parked group, as 500 of old', failure(500, NO_DEPLOYMENT), { ...unavailable, retryAfter: '42' }],
    [
      'a limit of its own, with a header',
      failure(429, 'litellm.RateLimitError: max parallel requests', 'throttling_error', {
        'retry-after': '9',
      }),
      { ...unavailable, retryAfter: '9' },
    ],
    [
      "the node's 400",
      failure(400, `litellm.BadRequestError: Hosted_vllmException - ${VLLM}${GROUPS}`, null),
      { ...refused, message: VLLM.slice(0, -1) },
    ],
    [
      "the node's 400 as Python's repr",
      failure(
        400,
        `litellm.BadRequestError: OpenAIException - Error code: 400 - {'message': '${VLLM}', 'code': 400}${GROUPS}`,
        null,
      ),
      { ...refused, message: VLLM },
    ],
    [
      'FastAPI’s own 422',
      json(422, { detail: [{ loc: ['body', 'messages'], msg: 'field required' }] }),
      { ...refused, status: 422, message: 'messages: field required' },
    ],
    [
      'a key that may not use a model',
      failure(
        403,
        'key not allowed to access model. This key can only access models=[]',
        'key_model_access_denied',
      ),
      failed,
    ],
    [
      "the node's 401",
      failure(
        401,
        `litellm.AuthenticationError: OpenAIException - sk-node at http://10.9.8.7${GROUPS}`,
        null,
      ),
      failed,
    ],
    [
      "the node's 404",
      failure(404, `litellm.NotFoundError: The model \`gemma-3-4b\` does not exist${GROUPS}`, null),
      failed,
    ],
    [
      "the node's 500",
      failure(500, `litellm.InternalServerError: Hosted_vllmException - Connection error.${GROUPS}`, null),
      failed,
    ],
    [
      'the node’s silence',
      failure(408, 'litellm.Timeout: APITimeoutError - Request timed out after 600 s', null),
      { status: 504, code: 'upstream_timeout', retryAfter: null },
    ],
    [
      'its own death',
      (_body, response) =>
        void response.writeHead(503, { 'content-type': 'text/html' }).end('<h1>nginx at 10.9.8.7</h1>'),
      failed,
    ],
  ];

  test.each(cases)('%s gets the documented error', async (_what, script, { message, ...expected }) => {
    litellm.answer(script);
    const before = await balanceOf(db, accountId);
    for (const asStream of [false, true]) {
      const response = await postChat(edge.url, key, { stream: asStream });
      expect([response.status, response.headers.get('retry-after')]).toEqual([
        expected.status,
        expected.retryAfter,
      ]);
      const error = await errorOf(response.clone());
      expect(error).toMatchObject({ code: expected.code, param: null });
      if (message) expect(error.message).toBe(message);
      await nothingLeaks(response);
    }
    expect(await lastEvent()).toMatchObject({
      status: 'error',
      error_code: expected.code,
      http_status: expected.status,
    });
    expect(await balanceOf(db, accountId)).toBe(before);
  });

  test.each([
    [
      '429',
      { message: NO_DEPLOYMENT, type: 'None', param: 'None', code: '429' },
      503,
      'upstream_unavailable',
    ],
    [
      '400',
      { message: `litellm.BadRequestError: ${VLLM}${GROUPS}`, type: null, param: null, code: '400' },
      400,
      'invalid_request',
    ],
    ['500', { message: `litellm.APIError: http://10.9.8.7${GROUPS}`, code: 500 }, 502, 'upstream_error'],
    ['no code', { message: 'litellm.APIConnectionError: gemma-3-4b' }, 502, 'upstream_error'],
  ])('an error as the first chunk becomes an error response: %s', async (_what, payload, status, code) => {
    litellm.answer(stream({ error: { after: 0, payload } }));
    const response = await postChat(edge.url, key, { stream: true });
    expect(response.status).toBe(status);
    expect(await nothingLeaks(response)).toContain(`"code":"${code}"`);
    expect(await lastEvent()).toMatchObject({ status: 'error', error_code: code });
  });

  test('an error after the first token ends the stream without [DONE], and is free', async () => {
    const payload = { message: `litellm.MidStreamFallbackError: http://10.9.8.7${GROUPS}`, code: '500' };
    litellm.answer(stream({ error: { after: 2, payload } }));
    const text = await nothingLeaks(await postChat(edge.url, key, { stream: true }));
    expect(text).toContain('"code":"upstream_error"');
    expect(text).not.toContain('[DONE]');
    expect(await lastEvent()).toMatchObject({ status: 'error', cost: '0.000000000000' });
  });

  test('an empty stream is an upstream error', async () => {
    litellm.answer((_body, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end();
    });
    expect((await postChat(edge.url, key, { stream: true })).status).toBe(502);
  });

  test('the list of models names neither it nor its owner', async () => {
    const response = await fetch(`${edge.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    const { data } = JSON.parse(await nothingLeaks(response)) as { data: { owned_by: string }[] };
    expect(new Set(data.map(({ owned_by }) => owned_by))).toEqual(new Set(['gateway']));
  });
});
