import OpenAI, { type ClientOptions } from 'openai';
import { soonerThan } from '../support/sooner-than.js';
import { FAST, thrownBy, useClients, watchedFetch } from './support.js';

/** What a refusal looks like to who catches it, and that the SDK doesn't repeat what can't succeed. */
const suite = useClients();

/** Asks with the SDK's own number of retries; gives what is thrown and how often it tried. */
async function refused(
  settings: ClientOptions = {},
  body: Record<string, unknown> = {},
): Promise<{ error: InstanceType<typeof OpenAI.APIError>; tries: number }> {
  const { fetch, calls } = watchedFetch();
  const client = suite.openai({ fetch, maxRetries: undefined, ...settings });
  const error = await thrownBy(() =>
    client.chat.completions.create({
      model: 'gateway/fast',
      messages: [{ role: 'user', content: `${FAST} Hello` }],
      ...body,
    } as OpenAI.Chat.ChatCompletionCreateParamsNonStreaming),
  );
  if (!(error instanceof OpenAI.APIError)) throw error;
  expect(error.requestID).toBe(calls.at(-1)!.requestId);
  return { error, tries: calls.length };
}

describe('openai: refusals', () => {
  test.each([
    ['malformed', () => 'sk-pr-nonsense'],
    ['a session token', () => suite.user.token],
  ])('401 for a key that is %s', async (_what, apiKey) => {
    const { error, tries } = await refused({ apiKey: apiKey() });
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: 'invalid_api_key', type: 'invalid_request_error' });
    expect(error.message).toMatch(/^401 .*sk-pr-/);
    expect(tries).toBe(1);
  });

  test('401 as soon as the key is disabled', async () => {
    const { key, keyId, token } = await suite.product.signUp();
    const client = suite.openai({ apiKey: key });
    await client.models.list();
    await suite.product.api(token, 'PATCH', `/api/keys/${keyId}`, { status: 'disabled' });
    const isRefused = () =>
      client.models.list().then(
        () => false,
        (error: unknown) => error instanceof OpenAI.AuthenticationError,
      );
    // Sooner than a key in use is read again.
    await soonerThan(2_000, isRefused, 'the key is refused');
  });

  test("402 for an account without balance, which isn't retried", async () => {
    const poor = await suite.product.signUp('free');
    await suite.openai({ apiKey: poor.key }).chat.completions.create({
      model: 'gateway/fast',
      // Ten million tokens at $0.1 per million: the starter credit to the last cent.
      messages: [{ role: 'user', content: '[[sim ttft_ms=1 tokens=10000000/0]] Everything' }],
    });
    expect(await suite.balance(poor)).toBe(0n);
    const { error, tries } = await refused({ apiKey: poor.key });
    expect(error).toMatchObject({ status: 402, code: 'insufficient_credits', type: 'insufficient_quota' });
    expect(tries).toBe(1);
  });

  test('402 for a key whose daily cap is reached, with a header that forbids retries', async () => {
    const capped = await suite.product.signUp();
    await suite.product.api(capped.token, 'PATCH', `/api/keys/${capped.keyId}`, { daily_limit_usd: 0 });
    const { error, tries } = await refused({ apiKey: capped.key });
    expect(error).toMatchObject({ status: 402, code: 'daily_cap_exceeded', type: 'insufficient_quota' });
    expect(error.headers!.get('x-should-retry')).toBe('false');
    expect(tries).toBe(1);
  });

  test.each(['gateway/qwen-pro', 'gpt-4o'])('403 for %s on plan free', async (model) => {
    const { key } = await suite.product.signUp('free');
    const { error, tries } = await refused({ apiKey: key }, { model });
    expect(error).toBeInstanceOf(OpenAI.PermissionDeniedError);
    expect(error).toMatchObject({ code: 'model_not_allowed', param: 'model' });
    expect(error.message).toContain(model);
    expect(tries).toBe(1);
  });

  test.each([
    ['models.retrieve', (client: OpenAI) => client.models.retrieve('gateway/fast')],
    ['responses.create', (client: OpenAI) => client.responses.create({ model: 'gateway/fast', input: 'Hi' })],
    [
      'completions.create',
      (client: OpenAI) => client.completions.create({ model: 'gateway/fast', prompt: 'Hi' }),
    ],
    ['files.list', (client: OpenAI) => client.files.list()],
  ])('404 for %s', async (_name, run) => {
    const error = await thrownBy(() => run(suite.openai()));
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect(error).toMatchObject({ code: 'endpoint_not_supported', type: 'invalid_request_error' });
  });

  test("400 in the gateway's words for a body that it refuses", async () => {
    const { error, tries } = await refused({}, { n: 0 });
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: 'invalid_body', param: 'n' });
    expect(tries).toBe(1);
  });

  test("400 in the node's words for a body that it refuses; recorded, and free", async () => {
    const before = await suite.balance();
    const { error } = await refused({}, { messages: [] });
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: 'invalid_request', param: 'messages' });
    expect((await suite.usage()).find(({ id }) => id === error.requestID)).toMatchObject({
      status: 'error',
      http_status: 400,
      cost: '0.000000000000',
    });
    expect(await suite.balance()).toBe(before);
  });

  test('refusals of the gateway itself are no usage', async () => {
    const before = (await suite.usage()).length;
    await refused({}, { model: 'gpt-4o' });
    await refused({}, { n: 0 });
    expect(await suite.usage()).toHaveLength(before);
  });
});

describe('openai: an error in a stream', () => {
  test('before the first chunk it has a status of its own', async () => {
    const { error } = await refused(
      { maxRetries: 0 },
      { stream: true, messages: [{ role: 'user', content: '[[sim error_first=1 status=503]] Broken' }] },
    );
    expect(error).toMatchObject({ status: 502, code: 'upstream_error' });
  });

  test('after some chunks it is thrown from the loop, and the call is free', async () => {
    const before = await suite.balance();
    const { fetch, calls } = watchedFetch();
    const stream = await suite.openai({ fetch }).chat.completions.create({
      model: 'gateway/fast',
      messages: [{ role: 'user', content: '[[sim ttft_ms=1 chunk_ms=1 abort_after=5]] Breaks off' }],
      stream: true,
    });
    let chunks = 0;
    const error = await thrownBy(async () => {
      for await (const _chunk of stream) chunks++;
    });
    expect(chunks).toBeGreaterThan(0);
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error).toMatchObject({ code: 'upstream_error', type: 'upstream_error' });
    expect((await suite.usage()).find(({ id }) => id === calls[0]!.requestId)).toMatchObject({
      status: 'error',
      error_code: 'upstream_error',
      cost: '0.000000000000',
    });
    expect(await suite.balance()).toBe(before);
  });
});
