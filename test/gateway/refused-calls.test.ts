import type { RefusalHourOutput, RefusedCallsOutput } from '../../src/services/refusals/refusals.outputs.js';
import { dataOf } from '../graphql/support.js';
import { call, signUp } from '../support/api.js';
import { postChat } from '../support/edge.js';
import { useProduct } from '../support/product-suite.js';
import { until } from '../support/until.js';

/** What a reason says, without times. */
const gist = ({ reasons }: RefusedCallsOutput) =>
  reasons
    .map(({ key_name, key_status, code, http_status, model_public_name, calls }) =>
      [key_name, key_status, code, http_status, model_public_name, calls].join(' '),
    )
    .sort();

describe('refused calls', () => {
  const suite = useProduct();
  const refusedOf = (token: string, path = '/api/usage/refused') =>
    suite.api<RefusedCallsOutput>(token, 'GET', path);
  const counted = (token: string, calls: number) =>
    until(async () => (await refusedOf(token)).total_calls === calls, { what: `${calls} counted calls` });

  test('can be looked up by their ID, by their owner only', async () => {
    const [user, other] = [await suite.signUp('free'), await suite.signUp('free')];
    const refused = await postChat(suite.url, user.key, { model: 'gateway/qwen-pro' });
    expect(refused.status).toBe(403);
    const id = refused.headers.get('x-request-id')!;
    await counted(user.token, 1);
    const found = await suite.api<Record<string, unknown>>(user.token, 'GET', `/api/usage/${id}`);
    expect(found).toEqual({
      id,
      status: 'rejected',
      error_code: 'model_not_allowed',
      http_status: 403,
      model_public_name: 'gateway/qwen-pro',
      key_id: expect.any(String),
      key_name: 'of a test',
      key_status: 'active',
      created_at: expect.stringMatching(/^20\d\d-/),
      remedy: expect.stringContaining('The plan does not include the model'),
    });
    const query = `query ($id: ID!) { viewer { rejectedCall(id: $id) { id errorCode remedy } } }`;
    expect(await dataOf(suite.url, query, { token: user.token, variables: { id } })).toEqual({
      viewer: { rejectedCall: { id, errorCode: 'model_not_allowed', remedy: found.remedy } },
    });
    const strange = await call(suite.url, 'GET', `/api/usage/${id}`, { token: other.token });
    expect(strange.status).toBe(404);
    await postChat(suite.url, user.key);
    const answered = await postChat(suite.url, user.key);
    const receipt = () =>
      call<{ status: string; error_message: unknown }>(
        suite.url,
        'GET',
        `/api/usage/${answered.headers.get('x-request-id')}`,
        { token: user.token },
      );
    const { body } = await until(async () => {
      const answer = await receipt();
      return answer.status === 200 ? answer : undefined;
    });
    expect([body.status, body.error_message]).toEqual(['success', null]);
  });

  test("are counted by key, code and model for their owner only, and aren't usage", async () => {
    const user = await suite.signUp('free');
    const key = async (name: string) => {
      const made = await suite.api<{ key: string; api_key: { id: string } }>(
        user.token,
        'POST',
        '/api/keys',
        { name },
      );
      return { id: made.api_key.id, secret: made.key };
    };
    const [disabled, deleted, capped] = [await key('disabled'), await key('deleted'), await key('capped')];
    await suite.api(user.token, 'PATCH', `/api/keys/${disabled.id}`, { status: 'disabled' });
    await suite.api(user.token, 'PATCH', `/api/keys/${capped.id}`, { daily_limit_usd: '0' });
    expect((await postChat(suite.url, deleted.secret)).status).toBe(200);
    await suite.api(user.token, 'DELETE', `/api/keys/${deleted.id}`);

    const modelsStatus = async (secret: string) =>
      (await fetch(`${suite.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })).status;
    const statusOf = async (secret: string, body = {}) => (await postChat(suite.url, secret, body)).status;
    // What asks for the models is no usage, should the edge not have heard of it yet.
    for (const { secret } of [disabled, deleted])
      await until(async () => (await modelsStatus(secret)) === 401);
    expect(await statusOf(deleted.secret)).toBe(401);
    expect(await statusOf(capped.secret)).toBe(402);
    expect(await statusOf(user.key, { model: 'gateway/qwen-pro' })).toBe(403);
    expect(await statusOf(user.key, { model: 'a name of my own' })).toBe(403);
    expect(await statusOf(`sk-pr-${'a'.repeat(46)}`)).toBe(401);
    await counted(user.token, 6);

    const refused = await refusedOf(user.token);
    expect(gist(refused)).toEqual(
      [
        'disabled disabled invalid_api_key 401  1',
        'deleted deleted invalid_api_key 401  2',
        'capped active daily_cap_exceeded 402 gateway/fast 1',
        'of a test active model_not_allowed 403 gateway/qwen-pro 1',
        'of a test active model_not_allowed 403  1',
      ].sort(),
    );
    const [latest] = refused.reasons;
    expect(latest).toMatchObject({ code: 'model_not_allowed', model_public_name: null });
    for (const { remedy } of refused.reasons) expect(remedy).not.toBe('');
    expect(gist(await refusedOf(user.token, `/api/keys/${capped.id}/refused`))).toEqual([
      'capped active daily_cap_exceeded 402 gateway/fast 1',
    ]);
    const hours = await suite.api<RefusalHourOutput[]>(user.token, 'GET', '/api/refusals?window_days=2');
    expect(hours.reduce((sum, { count }) => sum + count, 0)).toBe(6);
    expect(hours.find(({ key_id }) => key_id === capped.id)).toEqual({
      hour: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:00:00\.000000Z$/),
      key_id: capped.id,
      model_public_name: 'gateway/fast',
      code: 'daily_cap_exceeded',
      count: 1,
    });
    const byHour = await dataOf<{ viewer: { refusals: object[] } }>(
      suite.url,
      '{ viewer { refusals(windowDays: 2) { keyId code count } } }',
      { token: user.token },
    );
    expect(byHour.viewer.refusals).toHaveLength(hours.length);
    await suite.settled();
    expect(await suite.api(user.token, 'GET', '/api/usage')).toMatchObject({ total: 1 });

    const stranger = await signUp(suite.url);
    expect(await refusedOf(stranger.token)).toMatchObject({ total_calls: 0, reasons: [] });
    await expect(refusedOf(stranger.token, `/api/keys/${capped.id}/refused`)).rejects.toThrow('404');
  });

  test('of a key that its guard has slowed down come with the remedy', async () => {
    const user = await suite.signUp('free');
    expect((await postChat(suite.url, user.key)).status).toBe(200);
    const [key] = await suite.api<{ id: string }[]>(user.token, 'GET', '/api/keys');
    await until(async () => {
      const { guard_status } = await suite.api<{ guard_status: string }>(
        user.token,
        'PATCH',
        `/api/keys/${key!.id}`,
        { monthly_limit_usd: '0.000001', guard: { at_pct: 1, action: 'slow' } },
      );
      return guard_status === 'acting';
    });
    await until(async () => (await postChat(suite.url, user.key)).status === 429);
    await counted(user.token, 1);
    const { reasons } = await refusedOf(user.token);
    expect(reasons[0]).toMatchObject({
      code: 'rate_limit_exceeded',
      remedy: expect.stringContaining('undo the guard'),
    });
  });

  test('show that a plan is too small, in GraphQL as in REST', async () => {
    const user = await suite.signUp('free');
    const body = {
      model: 'gateway/fast',
      messages: [{ role: 'user', content: '[[sim ttft_ms=0 chunk_ms=0]] Hi' }],
    };
    const statuses = await Promise.all(
      Array.from({ length: 24 }, async () => (await postChat(suite.url, user.key, body)).status),
    );
    const refused = statuses.filter((status) => status === 429).length;
    expect(refused).toBe(4);
    await counted(user.token, refused);
    const rest = await refusedOf(user.token);
    const { viewer } = await dataOf<{ viewer: { refusedCalls: { reasons: object[] } } }>(
      suite.url,
      `{ viewer { refusedCalls { totalCalls reasons { keyName code httpStatus modelPublicName calls remedy lastAt } }
        apiKeys(first: 1) { nodes { refusedCalls(windowDays: 1) { totalCalls } } } } }`,
      { token: user.token },
    );
    const [reason] = rest.reasons;
    expect(viewer).toEqual({
      refusedCalls: {
        totalCalls: refused,
        reasons: [
          {
            keyName: 'of a test',
            code: 'rate_limit_exceeded',
            httpStatus: 429,
            modelPublicName: 'gateway/fast',
            calls: refused,
            remedy: reason!.remedy,
            lastAt: reason!.last_at,
          },
        ],
      },
      apiKeys: { nodes: [{ refusedCalls: { totalCalls: refused } }] },
    });
  });
});
