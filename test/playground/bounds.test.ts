import { createVirtualKeyClient } from '../../src/services/keys/virtual-keys.js';
import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { testClock } from '../support/clock.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestPlatform, type TestPlatform } from '../support/platform.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import { until } from '../support/until.js';
import { ask, FAST, QWEN } from './support.js';

/** Two processes over one database that share nothing else. */
describe('the limits of an account, over two platforms', () => {
  const clock = testClock(Date.UTC(2026, 10, 21, 12, 0, 10));
  let db: TestDatabase;
  let proxy: TestProxy;
  let platforms: TestPlatform[];

  beforeAll(async () => {
    db = await createTestDatabase();
    proxy = await startTestProxy(db);
    const env = {
      UPSTREAM_URL: proxy.url,
      PLAYGROUND_RUNS_PER_MINUTE: '10',
      PLAYGROUND_RUNS_PER_DAY: '24',
      PLAYGROUND_OUTPUT_TOKENS_PER_DAY: '2000',
      PLAYGROUND_INPUT_TOKENS_PER_DAY: '4000',
    };
    const virtualKeys = createVirtualKeyClient({ url: proxy.url, masterKey: proxy.masterKey });
    platforms = await Promise.all([1, 2].map(() => startTestPlatform(db, { env, clock, virtualKeys })));
  }, 60_000);
  afterAll(async () => {
    for (const platform of platforms) await platform.close();
    await proxy.close();
    await db.close();
  });

  const customer = async () => {
    const { token, user } = await signUp(platforms[0]!.url);
    await db.pool.query(`update accounts set plan_id = 'team' where id = $1`, [user.id]);
    return { token, accountId: user.id };
  };
  const at = (n: number) => platforms[n % 2]!.url;
  const small = { parameters: { max_tokens: 5 } };
  /** None of them ends before all have been asked for. */
  const TOGETHER = '[[sim words=2 ttft_ms=5000]]';
  const askTimes = (
    token: string,
    times: number,
    models: string[],
    more: object = small,
    prompt = 'Hi [[sim words=2]]',
  ) => Promise.all(Array.from({ length: times }, (_, n) => ask(at(n), token, models, prompt, { ...more })));
  const statusesOf = (answers: { status: number }[]) =>
    answers.map(({ status }) => status).toSorted((a, b) => a - b);
  const countOf = async (accountId: string) =>
    (
      await db.pool.query<{ runs: number; tokens: number; used: number }>(
        `select runs, output_tokens::int as tokens, (select coalesce(sum(r.output_tokens), 0)::int from playground_runs r
          join playground_sessions s on s.id = r.session_id where s.account_id = $1) as used
         from playground_days where account_id = $1`,
        [accountId],
      )
    ).rows;

  test('of runs per minute hold for simultaneous starts, and are free again a minute later', async () => {
    const { token } = await customer();
    const answers = await askTimes(token, 8, [FAST, QWEN]);
    expect(statusesOf(answers)).toEqual([201, 201, 201, 201, 201, 429, 429, 429]);
    const refused = answers.find(({ status }) => status === 429)!;
    expect(refused.body.error).toMatchObject({ code: 'rate_limit_exceeded', type: 'requests' });
    expect(refused.body.error.message).toBe(
      'Your plan allows 10 playground runs per minute, and 10 were started in the last minute. Try again in a moment.',
    );
    expect(refused.headers.get('retry-after')).toBe('60');
    clock.advance(59_000);
    expect((await ask(at(1), token, [FAST], 'Hi', small)).headers.get('retry-after')).toBe('1');
    clock.advance(1_000);
    expect(statusesOf(await askTimes(token, 6, [FAST, QWEN]))).toEqual([201, 201, 201, 201, 201, 429]);
  });

  test('of runs per day hold, and deleting sessions gives none back', async () => {
    const { token, accountId } = await customer();
    for (let minute = 0; minute < 2; minute++) {
      expect(statusesOf(await askTimes(token, 5, [FAST, QWEN]))).toEqual([201, 201, 201, 201, 201]);
      clock.advance(60_000);
    }
    const { body: sessions } = await call<{ id: string }[]>(at(0), 'GET', '/api/playground', { token });
    for (const { id } of sessions) await call(at(0), 'DELETE', `/api/playground/${id}`, { token });
    expect(statusesOf(await askTimes(token, 4, [FAST, QWEN]))).toEqual([201, 201, 429, 429]);
    const { status, body, headers } = await ask(at(0), token, [FAST], 'Hi', small);
    expect([status, body.error.message]).toEqual([
      429,
      'An account can start 24 playground runs per day, and 24 were started today. The limit resets at 00:00 UTC.',
    ]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(3_600);
    expect((await countOf(accountId))[0]!.runs).toBe(24);
    clock.advance(24 * 3_600_000);
    const { token: renewed } = await login(accountId);
    expect((await ask(at(0), renewed, [FAST], 'Hi', small)).status).toBe(201);
  });

  test('of tokens per day hold for simultaneous runs, and count the generated tokens in the end', async () => {
    const { token, accountId } = await customer();
    const large = { parameters: { max_tokens: 500 } };
    const answers = await askTimes(token, 6, [FAST], large, TOGETHER);
    expect(statusesOf(answers)).toEqual([201, 201, 201, 201, 429, 429]);
    const { message } = (answers.find(({ status }) => status === 429)!.body as ErrorAnswer).error;
    expect(message).toMatch(
      /^Playground runs of an account can generate 2000 tokens per day; \d+ are left, but 1 × max_tokens is 500\. Lower max_tokens/,
    );
    const [{ tokens, used }] = (await countOf(accountId)) as unknown as [{ tokens: number; used: number }];
    expect([tokens, used > 0 && used < 100]).toEqual([used, true]);
    // What was set aside and not used is free again.
    expect(statusesOf(await askTimes(token, 3, [FAST], large))).toEqual([201, 201, 201]);
    const over = await ask(at(0), token, [FAST, QWEN], 'Hi', { parameters: { max_tokens: 1_001 } });
    expect([over.status, over.body.error.message]).toEqual([
      429,
      expect.stringContaining('2 × max_tokens is 2002'),
    ]);
  });

  test('of input tokens per day hold for simultaneous runs, and count the tokens read in the end', async () => {
    const { token, accountId } = await customer();
    // 6,000 bytes of one word: estimated as 1,500 tokens each.
    const long = `${'word '.repeat(1_200).slice(TOGETHER.length)}${TOGETHER}`;
    const answers = await Promise.all([0, 1, 2, 3].map((n) => ask(at(n), token, [FAST], long, small)));
    expect(statusesOf(answers)).toEqual([201, 201, 429, 429]);
    const { message } = (answers.find(({ status }) => status === 429)!.body as ErrorAnswer).error;
    expect(message).toMatch(
      /^Playground runs of an account can read 4000 tokens per day; \d+ are left, but 1 × about 1500 is 1500\. Shorten the prompt/,
    );
    const read = async () =>
      (
        await db.pool.query<{ counted: number; used: number }>(
          `select input_tokens::int as counted, (select coalesce(sum(r.input_tokens), 0)::int from playground_runs r
            join playground_sessions s on s.id = r.session_id where s.account_id = $1) as used
           from playground_days where account_id = $1`,
          [accountId],
        )
      ).rows[0]!;
    const { counted, used } = await read();
    expect([counted, used > 0]).toEqual([used, true]);
    expect((await ask(at(0), token, [FAST], 'Hi', small)).status).toBe(201);
  });

  test('input tokens count for runs that are cancelled before they answer', async () => {
    const { token, accountId } = await customer();
    const long = `[[sim ttft_ms=60000]] ${'word '.repeat(1_200)}`;
    for (let n = 0; n < 2; n++) {
      const run = ask(at(n), token, [FAST], long, small);
      const running = async () =>
        (
          await db.pool.query<{ id: string }>(
            `select s.id from playground_sessions s join playground_runs r on r.session_id = s.id
             where s.account_id = $1 and r.status = 'running'`,
            [accountId],
          )
        ).rows[0]?.id;
      const id = await until(running, { what: 'the run' });
      await call(at(n), 'POST', `/api/playground/${id}/cancel`, { token });
      expect((await run).body.runs[0]!.status).toBe('cancelled');
    }
    expect((await ask(at(0), token, [FAST], long, small)).status).toBe(429);
  });

  test("don't affect other accounts", async () => {
    const { token } = await customer();
    await askTimes(token, 6, [FAST, QWEN]);
    const { token: other } = await customer();
    expect(statusesOf(await askTimes(other, 2, [FAST]))).toEqual([201, 201]);
  });

  test('a refused start writes and reserves nothing', async () => {
    const { token, accountId } = await customer();
    const refused = await ask(at(0), token, [FAST], 'Hi', { parameters: { max_tokens: 2_001 } });
    expect(refused.status).toBe(429);
    expect(await countOf(accountId)).toEqual([]);
    const { rows } = await db.pool.query('select 1 from playground_sessions where account_id = $1', [
      accountId,
    ]);
    expect(rows).toEqual([]);
    expect(statusesOf(await askTimes(token, 5, [FAST, QWEN]))).toEqual([201, 201, 201, 201, 201]);
  });

  /** A session of the day after: the one before has expired by the clock. */
  const login = async (accountId: string) => {
    const { rows } = await db.pool.query<{ email: string }>('select email from accounts where id = $1', [
      accountId,
    ]);
    const { body } = await call<{ access_token: string }>(at(0), 'POST', '/api/auth/login', {
      body: { email: rows[0]!.email, password: 'correct horse battery staple' },
    });
    return { token: body.access_token };
  };
});
