import { call, type ErrorAnswer, PASSWORD, sessionCookie, signUp } from '../support/api.js';
import { testClock } from '../support/clock.js';
import { startTestPlatform } from '../support/platform.js';
import { usePlatform } from '../support/platform-suite.js';

const HOUR = 3_600_000;

describe('GET /api/auth/me', () => {
  const clock = testClock();
  const suite = usePlatform({ clock });

  const me = (request: { token?: string; cookie?: string; authorization?: string }) =>
    call<ErrorAnswer>(suite.url, 'GET', '/api/auth/me', {
      ...(request.token !== undefined && { token: request.token }),
      headers: {
        ...(request.cookie !== undefined && { cookie: `pr_session=${request.cookie}` }),
        ...(request.authorization !== undefined && { authorization: request.authorization }),
      },
    });

  test('shows account, plan and balance', async () => {
    const { token, user } = await signUp(suite.url);
    const answer = await call(suite.url, 'GET', '/api/auth/me', { token });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      ...user,
      plan: {
        name: 'free',
        monthly_price_usd: '0.000000',
        included_credits_usd: '1.000000',
        allowed_models: ['gateway/fast', 'gateway/embed'],
        requests_per_minute: 20,
      },
      balance_usd: '1.000000',
    });
  });

  test.each([
    ['nothing', {}],
    ['an empty bearer', { authorization: 'Bearer ' }],
    ['an API key', { authorization: `Bearer sk-pr-${'a'.repeat(46)}` }],
    ['another scheme', { authorization: 'Basic YTpi' }],
    ['a foreign cookie', { cookie: 'abc.def.ghi' }],
  ])('refuses %s', async (_what, request) => {
    const answer = await me(request);
    expect([answer.status, answer.body.error.code]).toEqual([401, 'unauthorized']);
  });

  test('a bearer takes precedence over the cookie, even if it is invalid', async () => {
    const { token } = await signUp(suite.url);
    expect((await me({ cookie: token })).status).toBe(200);
    expect((await me({ cookie: token, token: 'worthless' })).status).toBe(401);
    expect((await me({ cookie: 'worthless', token })).status).toBe(200);
  });

  test('a token ends after its lifetime', async () => {
    const { token } = await signUp(suite.url);
    clock.advance(HOUR - 1000);
    expect((await me({ token })).status).toBe(200);
    clock.advance(1000);
    expect((await me({ token })).status).toBe(401);
  });

  test('the cookie is renewed with each request, the bearer is not', async () => {
    const { token } = await signUp(suite.url);
    expect(sessionCookie(await me({ token }))).toBeUndefined();
    clock.advance(HOUR - 60_000);
    const renewed = sessionCookie(await me({ cookie: token }))!;
    expect(renewed.line).toMatch(/Max-Age=3600/);
    clock.advance(HOUR - 60_000);
    expect((await me({ cookie: renewed.value })).status).toBe(200);
    expect((await me({ cookie: token })).status).toBe(401);
  });

  test('renewals never extend a session beyond 12 hours after the log-in', async () => {
    let { token: cookie } = await signUp(suite.url);
    for (let minute = 30; minute < 12 * 60; minute += 30) {
      clock.advance(HOUR / 2);
      const answer = await me({ cookie });
      expect(answer.status).toBe(200);
      const renewed = sessionCookie(answer)!;
      const left = Math.min(3600, (12 * 60 - minute) * 60);
      expect(renewed.line).toContain(`Max-Age=${left};`);
      cookie = renewed.value;
    }
    clock.advance(HOUR / 2);
    expect((await me({ cookie })).status).toBe(401);
  });

  test('a session ends at once when the account is disabled', async () => {
    const { token, user } = await signUp(suite.url);
    await suite.db.pool.query(`update accounts set status = 'disabled' where id = $1`, [user.id]);
    expect((await me({ token })).status).toBe(401);
  });

  test('tokens of the previous secret stay valid during its rotation', async () => {
    const { token } = await signUp(suite.url, { password: PASSWORD });
    const secrets = { JWT_SECRET: 'the-new-secret-0123456789abcdefghijkl' };
    const rotated = await startTestPlatform(suite.db, {
      clock,
      env: { ...secrets, JWT_SECRET_PREVIOUS: suite.platform.config.jwtSecret },
    });
    const done = await startTestPlatform(suite.db, { clock, env: secrets });
    try {
      expect((await call(rotated.url, 'GET', '/api/auth/me', { token })).status).toBe(200);
      expect((await call(done.url, 'GET', '/api/auth/me', { token })).status).toBe(401);
    } finally {
      await rotated.close();
      await done.close();
    }
  });
});
