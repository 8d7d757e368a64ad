import { randomUUID } from 'node:crypto';
import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { useProduct } from '../support/product-suite.js';
import { ask, byModel, CODE, FAST, PRO, QWEN, type Session } from './support.js';

const UUID = /^[0-9a-f-]{36}$/;

describe('a prompt for several models', () => {
  const product = useProduct();
  let token: string;
  let accountId: string;

  beforeAll(async () => {
    ({ token, accountId } = await product.signUp('team'));
  });

  test('returns every run with its tokens and list price, and is free', async () => {
    const before = await call<{ balance_usd: string }>(product.url, 'GET', '/api/billing/balance', { token });
    const answer = await ask(product.url, token, [FAST, PRO], 'Name a tree. [[sim words=6 tokens=10/20]]', {
      system_prompt: 'Be short.',
      parameters: { temperature: 0.5, max_tokens: 64, top_p: 0.9 },
    });
    expect([answer.status, answer.body.models]).toEqual([201, [FAST, PRO]]);
    expect(answer.body).toMatchObject({
      id: expect.stringMatching(UUID),
      prompt: 'Name a tree. [[sim words=6 tokens=10/20]]',
      system_prompt: 'Be short.',
      parameters: { temperature: 0.5, max_tokens: 64, top_p: 0.9 },
      shared: false,
      share_slug: null,
      public_url: null,
      truncated: false,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    });
    const { [FAST]: fast, [PRO]: pro } = byModel(answer.body);
    for (const run of [fast!, pro!]) {
      expect(run).toMatchObject({
        id: expect.stringMatching(UUID),
        served_model_public_name: run.model_public_name,
        status: 'success',
        response_content: expect.stringMatching(/\w+ \w+/),
        finish_reason: 'stop',
        input_tokens: 10,
        output_tokens: 20,
        cost_usd: '0.000000',
        error_code: null,
        error_message: null,
      });
      expect(run.ttft_ms).toBeGreaterThan(0);
      expect(run.latency_ms).toBeGreaterThanOrEqual(run.ttft_ms!);
    }
    // 10 × 0.1 + 20 × 0.3 and 10 × 0.5 + 20 × 1.5 dollars per million.
    expect([fast!.list_cost_usd, pro!.list_cost_usd]).toEqual(['0.000007', '0.000035']);
    const read = await call<Session>(product.url, 'GET', `/api/playground/${answer.body.id}`, { token });
    expect(read.body).toEqual(answer.body);
    await product.settled();
    const after = await call<{ balance_usd: string }>(product.url, 'GET', '/api/billing/balance', { token });
    expect(after.body).toEqual(before.body);
    const usage = await call<{ total: number }>(product.url, 'GET', '/api/usage', { token });
    expect(usage.body.total).toBe(0);
  });

  test('max_tokens defaults to 1,024, and cuts off the answer', async () => {
    const whole = await ask(product.url, token, [FAST], 'Hello [[sim words=3]]');
    expect(whole.body.parameters).toEqual({ temperature: null, max_tokens: 1_024, top_p: null });
    const cut = await ask(product.url, token, [FAST], 'Hello [[sim words=50]]', {
      parameters: { max_tokens: 5 },
    });
    expect(cut.body.runs[0]).toMatchObject({ status: 'success', finish_reason: 'length', output_tokens: 5 });
  });

  test('a slow answer begins before it is complete, so that no intermediary gives up', async () => {
    const began = performance.now();
    const response = await fetch(`${product.url}/api/playground`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'Slowly [[sim delay_ms=9000 words=3]]', models: [FAST] }),
    });
    const headMs = performance.now() - began;
    const text = await response.text();
    expect([response.status, response.headers.get('content-type')]).toEqual([
      201,
      'application/json; charset=utf-8',
    ]);
    // Four seconds before the first output of the model.
    expect(headMs).toBeLessThan(performance.now() - began - 500);
    expect(text.startsWith(' {')).toBe(true);
    expect(JSON.parse(text)).toMatchObject({ runs: [{ status: 'success', model_public_name: FAST }] });
  });

  test('a model that fails is a run with status and message, and the others answer', async () => {
    // Only what one model is asked to do differs: the others are asked for the same.
    const [good, bad] = await Promise.all([
      ask(product.url, token, [FAST, QWEN], 'Hi [[sim words=4]]'),
      ask(product.url, token, [CODE], 'Hi [[sim status=500]]'),
    ]);
    expect(good.body.runs.map(({ status }) => status)).toEqual(['success', 'success']);
    expect([bad.status, bad.body.runs[0]]).toEqual([
      201,
      expect.objectContaining({
        status: 'error',
        response_content: null,
        served_model_public_name: null,
        error_code: 'upstream_error',
        error_message: expect.stringContaining('failed to answer'),
        output_tokens: 0,
        list_cost_usd: '0.000000',
      }),
    ]);
  });

  test('an answer that breaks off keeps the text received, and is marked as failed', async () => {
    const { body } = await ask(product.url, token, [FAST], 'Hi [[sim words=30 abort_after=5]]');
    expect(body.runs[0]).toMatchObject({ status: 'error', error_code: 'upstream_error' });
    expect(body.runs[0]!.response_content).toMatch(/\w/);
    expect(body.runs[0]!.error_message).not.toMatch(/127\.0\.0\.1|ECONN|http/);
  });

  test('refuses an embedding model, a wrong number of models, and a repeated model', async () => {
    const refused = async (models: string[]) => {
      const { status, body } = await ask(product.url, token, models, 'Hi');
      return [status, body.error.code, body.error.details?.[0]?.field];
    };
    expect(await refused(['gateway/embed'])).toEqual([422, 'validation_error', 'models.0']);
    expect(await refused([])).toEqual([422, 'validation_error', 'models']);
    expect(await refused([FAST, FAST])).toEqual([422, 'validation_error', 'models']);
    expect(await refused([FAST, QWEN, PRO, CODE, 'gateway/deepseek-reason'])).toEqual([
      422,
      'validation_error',
      'models',
    ]);
  });

  test.each([
    ['an empty prompt', { prompt: ' \n' }, 'prompt'],
    ['a prompt that is too long', { prompt: 'x'.repeat(50_001) }, 'prompt'],
    ['half a character', { prompt: 'a\ud800b' }, 'prompt'],
    ['a control character', { prompt: 'a\u0001b' }, 'prompt'],
    ['a control character in the system prompt', { system_prompt: '\u001b[0m' }, 'system_prompt'],
    ['a system prompt that is too long', { system_prompt: 'x'.repeat(50_001) }, 'system_prompt'],
    ['too many tokens', { parameters: { max_tokens: 4_097 } }, 'parameters.max_tokens'],
    ['a temperature above 2', { parameters: { temperature: 2.1 } }, 'parameters.temperature'],
    ['top_p above 1', { parameters: { top_p: 1.5 } }, 'parameters.top_p'],
    ['a parameter that is not known', { parameters: { n: 2 } }, 'parameters.n'],
    ['a field that is not known', { stream: true }, 'stream'],
  ])('%s is refused with its field', async (_what, more, field) => {
    const body = { prompt: 'Hi', models: [FAST], ...more };
    const answer = await call<ErrorAnswer>(product.url, 'POST', '/api/playground', { token, body });
    expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
    expect(answer.body.error.details!.map((issue) => issue.field)).toEqual([field]);
  });

  test('50,000 characters are accepted, whatever their size in bytes', async () => {
    const prompt = '🌳'.repeat(50_000);
    const { status, body } = await ask(product.url, token, [QWEN], prompt);
    expect([status, body.prompt === prompt, body.runs[0]!.status]).toEqual([201, true, 'success']);
  });

  test('a model outside the plan is refused with the reason, and so is an unknown one', async () => {
    const { token: free } = await signUp(product.url);
    for (const model of [PRO, 'gateway/none']) {
      const { status, body } = await ask(product.url, free, [FAST, model], 'Hi');
      expect([status, body.error.code, body.error.param]).toEqual([403, 'model_not_allowed', 'models.1']);
      expect(body.error.message).toContain(`Your plan (free) doesn't include ${model}`);
    }
    const listed = await call<Session[]>(product.url, 'GET', '/api/playground', { token: free });
    expect(listed.body).toEqual([]);
  });

  test('a list shows the newest first, with the beginning of long texts, and only shared ones on request', async () => {
    const { token: own } = await product.signUp('starter');
    const first = await ask(product.url, own, [FAST], 'one [[sim words=2]]');
    const second = await ask(product.url, own, [FAST], `two [[sim words=2]]${' more'.repeat(500)}`);
    const list = async (query = '') => {
      const { body } = await call<Session[]>(product.url, 'GET', `/api/playground${query}`, { token: own });
      return body.map(({ id }) => id);
    };
    expect(await list()).toEqual([second.body.id, first.body.id]);
    await call(product.url, 'POST', `/api/playground/${first.body.id}/share`, { token: own });
    expect(await list('?shared=true')).toEqual([first.body.id]);
    expect(await list('?shared=false')).toEqual([second.body.id]);
    const { body } = await call<Session[]>(product.url, 'GET', '/api/playground', { token: own });
    expect([body[0]!.truncated, body[0]!.prompt]).toEqual([true, second.body.prompt.slice(0, 1_000)]);
    expect([body[1]!.truncated, body[1]!.runs]).toEqual([false, first.body.runs]);
    const bad = await call(product.url, 'GET', '/api/playground?shared=maybe', { token: own });
    expect(bad.status).toBe(422);
  });

  test('the newest 50 are kept, in addition to shared ones', async () => {
    const { token: own, accountId: owner } = await product.signUp('team');
    const { body: first } = await ask(product.url, own, [FAST], 'shared [[sim words=1]]');
    const { body: second } = await ask(product.url, own, [FAST], 'not shared [[sim words=1]]');
    await call(product.url, 'POST', `/api/playground/${first.id}/share`, { token: own });
    // As many as the product would write; only that they are newer counts.
    await product.db.pool.query(
      `insert into playground_sessions (id, account_id, prompt_sealed, parameters, created_at)
       select gen_random_uuid(), account_id, prompt_sealed, parameters, now() + interval '1 second'
       from playground_sessions, generate_series(1, 49) where id = $1`,
      [second.id],
    );
    await ask(product.url, own, [FAST], 'the 52nd [[sim words=1]]');
    const { rows } = await product.db.pool.query<{ id: string }>(
      'select id from playground_sessions where account_id = $1',
      [owner],
    );
    expect(rows).toHaveLength(51);
    expect(rows.map(({ id }) => id)).toContain(first.id);
    expect(rows.map(({ id }) => id)).not.toContain(second.id);
  });

  test('a deleted session is gone with its runs', async () => {
    const { body } = await ask(product.url, token, [FAST, QWEN], 'Gone soon [[sim words=2]]');
    const path = `/api/playground/${body.id}`;
    const deleted = await call(product.url, 'DELETE', path, { token });
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await call(product.url, 'GET', path, { token })).status).toBe(404);
    expect((await call(product.url, 'DELETE', path, { token })).status).toBe(404);
    const { rows } = await product.db.pool.query('select 1 from playground_runs where session_id = $1', [
      body.id,
    ]);
    expect(rows).toEqual([]);
  });

  test("another account's session is answered like a missing one, for every operation", async () => {
    const { body } = await ask(product.url, token, [FAST], 'Mine [[sim words=2]]');
    const { token: other } = await signUp(product.url);
    const attempts: [string, string, unknown?][] = [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/share', {}],
      ['POST', '/share', { rotate: true }],
      ['DELETE', '/share'],
      ['POST', '/cancel', {}],
      ['POST', '/cancel', { run_id: body.runs[0]!.id }],
    ];
    for (const [method, end, sent] of attempts) {
      const path = `/api/playground/${body.id}${end}`;
      const foreign = await call(product.url, method, path, { token: other, body: sent });
      const absent = await call(product.url, method, `/api/playground/${randomUUID()}${end}`, {
        token: other,
        body: sent,
      });
      expect([foreign.status, foreign.body]).toEqual([404, absent.body]);
      expect((await call(product.url, method, path, { body: sent })).status).toBe(401);
    }
    expect((await call<Session>(product.url, 'GET', `/api/playground/${body.id}`, { token })).body).toEqual(
      body,
    );
    expect((await call(product.url, 'GET', '/api/playground/no-uuid', { token })).status).toBe(404);
  });

  test('the account has its own virtual key, created for it and deleted with it', async () => {
    const { token: own, user } = await signUp(product.url, { password: 'a password of this test' });
    await Promise.all([1, 2, 3].map(() => ask(product.url, own, [FAST], 'Hi [[sim words=1]]')));
    const keys = async () =>
      (await product.db.pool.query('select key_alias from virtual_keys where user_id = $1', [user.id])).rows;
    expect(await keys()).toEqual([{ key_alias: expect.stringContaining(`account-${user.id}`) }]);
    const body = { password: 'a password of this test' };
    expect((await call(product.url, 'DELETE', '/api/auth/me', { token: own, body })).status).toBe(204);
    expect(await keys()).toEqual([]);
    const left = await product.db.pool.query(
      `select (select count(*)::int from playground_sessions where account_id = $1) as sessions,
        (select count(*)::int from playground_days where account_id = $1) as days,
        (select data_key_sealed from accounts where id = $1) as key`,
      [user.id],
    );
    expect(left.rows).toEqual([{ sessions: 0, days: 0, key: null }]);
  });

  test('no response names the account, its virtual key or a node', async () => {
    const canary = await ask(product.url, token, [FAST], 'Hi [[sim echo_canary=1 status=500]]');
    const words = await ask(product.url, token, [FAST], 'Hi [[sim echo_canary=1 words=4]]');
    const refused = await ask(product.url, token, [FAST], 'Hi [[sim echo_canary=1 status=400]]');
    const { rows } = await product.db.pool.query<{ sealed: string }>(
      'select virtual_key_sealed as sealed from accounts where id = $1',
      [accountId],
    );
    for (const { text, headers } of [canary, words, refused]) {
      const all = `${text}\n${[...headers].join('\n')}`;
      expect(all).not.toMatch(/127\.0\.0\.1|localhost|canary:|sk-[A-Za-z0-9]{8}|upstream_model/);
      expect(all).not.toContain(rows[0]!.sealed);
      expect(all).not.toContain(accountId);
    }
  });
});
