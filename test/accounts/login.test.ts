import { randomUUID } from 'node:crypto';
import {
  call,
  type ErrorAnswer,
  PASSWORD,
  type SessionAnswer,
  sessionCookie,
  signUp,
  type UserFields,
} from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';

describe('POST /api/auth/login', () => {
  const suite = usePlatform({ env: { PUBLIC_BASE_URL: 'https://gateway.example.com' } });
  const email = `Login-${randomUUID()}@Example.com`;
  const lowerCase = email.toLowerCase();
  const nobody = `${randomUUID()}@example.com`;
  let user: UserFields;
  beforeAll(async () => {
    ({ user } = await signUp(suite.url, { email }));
  });

  const login = <T = SessionAnswer>(body: unknown) => call<T>(suite.url, 'POST', '/api/auth/login', { body });

  test('opens a session like a sign-up, ignoring the case of the email address', async () => {
    const answer = await login({ email: email.toUpperCase(), password: PASSWORD });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ access_token: expect.any(String), token_type: 'bearer', user });
    const me = await call<UserFields>(suite.url, 'GET', '/api/auth/me', {
      token: answer.body.access_token,
    });
    expect(me.body.id).toBe(user.id);
  });

  test('sets a Secure cookie if the public address is https', async () => {
    const cookie = sessionCookie(await login({ email: lowerCase, password: PASSWORD }))!;
    expect(cookie.line).toMatch(/; Secure/);
  });

  test('gives each log-in a session of its own', async () => {
    const [first, second] = await Promise.all(
      [1, 2].map(() => login({ email: lowerCase, password: PASSWORD })),
    );
    const token = first!.body.access_token;
    expect(token).not.toBe(second!.body.access_token);
    await call(suite.url, 'POST', '/api/auth/logout', { token });
    const other = await call(suite.url, 'GET', '/api/auth/me', { token: second!.body.access_token });
    expect(other.status).toBe(200);
  });

  describe('with the session cookie of a browser', () => {
    const isAlive = async (token: string) =>
      (await call(suite.url, 'GET', '/api/auth/me', { token })).status === 200;
    const begin = (path: 'login' | 'signup', token: string, body: object) =>
      call<SessionAnswer>(suite.url, 'POST', `/api/auth/${path}`, {
        headers: { cookie: `pr_session=${token}` },
        body: { email: lowerCase, password: PASSWORD, ...body },
      });

    test.each(['login', 'signup'] as const)(
      'of another account, %s ends that session, which nobody could end any more, and no other',
      async (path) => {
        const former = await signUp(suite.url);
        const elsewhere = await login({ email: former.user.email, password: PASSWORD });
        const newcomer = { email: `${randomUUID()}@example.com`, name: 'Ada' };
        const { status, body } = await begin(path, former.token, path === 'signup' ? newcomer : {});
        expect(status).toBe(200);
        const tokens = [former.token, elsewhere.body.access_token, body.access_token];
        expect(await Promise.all(tokens.map(isAlive))).toEqual([false, true, true]);
      },
    );

    test('of another account, a failed log-in leaves that session alone', async () => {
      const { token } = await signUp(suite.url);
      expect((await begin('login', token, { password: `${PASSWORD} ` })).status).toBe(401);
      expect((await begin('signup', token, { name: 'Ada' })).status).toBe(409);
      expect(await isAlive(token)).toBe(true);
    });

    test('of the same account, it leaves that session alone', async () => {
      const { access_token: token } = (await login({ email: lowerCase, password: PASSWORD })).body;
      expect((await begin('login', token, {})).status).toBe(200);
      expect(await isAlive(token)).toBe(true);
    });

    test('that is invalid, it opens a session', async () => {
      expect((await begin('login', 'none', {})).status).toBe(200);
    });
  });

  test.each([
    ['a wrong password', { email: lowerCase, password: `${PASSWORD} ` }],
    ['an unknown email address', { email: nobody, password: PASSWORD }],
    ['an address that sign-up refuses', { email: 'nobody@localhost', password: PASSWORD }],
    ['a password longer than any', { email: lowerCase, password: 'x'.repeat(500) }],
  ])('answers %s with the same bytes', async (_what, body) => {
    const answer = await login<ErrorAnswer>(body);
    expect(answer.status).toBe(401);
    expect(answer.text).toBe(
      '{"error":{"message":"Email or password is wrong.","type":"invalid_request_error","param":null,"code":"invalid_credentials"}}',
    );
    expect(sessionCookie(answer)).toBeUndefined();
  });

  test('answers a disabled account like a wrong password', async () => {
    const { user: disabled } = await signUp(suite.url);
    await suite.db.pool.query(`update accounts set status = 'disabled' where id = $1`, [disabled.id]);
    const answer = await login<ErrorAnswer>({ email: disabled.email, password: PASSWORD });
    expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_credentials']);
  });
});
