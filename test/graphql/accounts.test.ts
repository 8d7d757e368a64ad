import { randomUUID } from 'node:crypto';
import { call, PASSWORD, sessionCookie, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { codesOf, dataOf, documentIdOf, operate, operateAsPage } from './support.js';

const SIGNUP = `mutation ($input: SignupInput!) { signup(input: $input) {
  accessToken tokenType expiresIn user { id email name role status createdAt planId balanceUsd plan { name requestsPerMinute } } } }`;
const LOGIN = 'mutation ($input: LoginInput!) { login(input: $input) { accessToken user { id } } }';
const VIEWER =
  '{ viewer { id email name role status balanceUsd planId monthlyQuotaTokens plan { name allowedModels } } }';

interface Session {
  accessToken: string;
  expiresIn: number;
  tokenType: string;
  user: Record<string, unknown> & { id: string };
}

describe('accounts', () => {
  const suite = usePlatform();

  const newcomer = () => ({ email: `${randomUUID()}@example.com`, password: PASSWORD, name: 'Ada' });

  test('signup creates an account with its starter credit, returns a token and sets the cookie', async () => {
    const input = newcomer();
    const answer = await operate<{ signup: Session }>(suite.url, SIGNUP, { variables: { input } });
    const session = answer.body.data!.signup;
    expect(session).toMatchObject({
      tokenType: 'bearer',
      expiresIn: 3600,
      user: {
        email: input.email,
        name: 'Ada',
        role: 'USER',
        status: 'ACTIVE',
        planId: 'free',
        balanceUsd: '1.000000',
        plan: { name: 'free', requestsPerMinute: 20 },
      },
    });
    expect(session.user.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    const cookie = sessionCookie(answer)!;
    expect(cookie.value).toBe(session.accessToken);
    expect(cookie.line).toMatch(/HttpOnly; SameSite=Lax/);
    const me = await call<{ id: string }>(suite.url, 'GET', '/api/auth/me', { token: session.accessToken });
    expect(me.body.id).toBe(session.user.id);
  });

  test("signup names each invalid field, with REST's messages", async () => {
    const input = { email: 'nobody', password: 'short', name: '  ' };
    const answer = await operate(suite.url, SIGNUP, { variables: { input } });
    expect(codesOf(answer)).toEqual(['validation_error']);
    const rest = await call<{ error: { details: unknown } }>(suite.url, 'POST', '/api/auth/signup', {
      body: input,
    });
    expect(answer.body.errors![0]!.extensions.details).toEqual(rest.body.error.details);
    expect(answer.body.errors![0]!.path).toEqual(['signup']);
    expect(sessionCookie(answer)).toBeUndefined();
  });

  test('signup with an email address that is taken is email_taken', async () => {
    const input = newcomer();
    await dataOf(suite.url, SIGNUP, { variables: { input } });
    const again = await operate(suite.url, SIGNUP, {
      variables: { input: { ...input, email: input.email.toUpperCase() } },
    });
    expect(codesOf(again)).toEqual(['email_taken']);
  });

  test('login opens a session of an account created over REST, and sets the cookie', async () => {
    const { user } = await signUp(suite.url);
    const input = { email: user.email.toUpperCase(), password: PASSWORD };
    const answer = await operate<{ login: Session }>(suite.url, LOGIN, { variables: { input } });
    expect(answer.body.data!.login.user.id).toBe(user.id);
    expect(sessionCookie(answer)!.value).toBe(answer.body.data!.login.accessToken);
  });

  test('login on a page ends the session of another account, whose cookie it replaces', async () => {
    const [former, next] = [await signUp(suite.url), await signUp(suite.url)];
    const page = { headers: { cookie: `pr_session=${former.token}` } };
    const documentId = documentIdOf('mutation LogIn');
    const logIn = (password: string) =>
      call(suite.url, 'POST', '/graphql', {
        ...page,
        body: { documentId, variables: { input: { email: next.user.email, password } } },
      });
    await logIn('wrong password');
    await dataOf(suite.url, VIEWER, { token: former.token });
    const token = sessionCookie(await logIn(PASSWORD))!.value;
    expect(await dataOf(suite.url, VIEWER, { token })).toMatchObject({ viewer: { id: next.user.id } });
    expect(codesOf(await operate(suite.url, VIEWER, { token: former.token }))).toEqual(['unauthorized']);
  });

  test.each([
    ['a wrong password', { password: 'wrong password' }],
    ['an unknown mail', { email: `${randomUUID()}@example.com` }],
  ])('login with %s is invalid_credentials and sets nothing', async (_what, wrong) => {
    const { user } = await signUp(suite.url);
    const input = { email: user.email, password: PASSWORD, ...wrong };
    const answer = await operate(suite.url, LOGIN, { variables: { input } });
    expect(codesOf(answer)).toEqual(['invalid_credentials']);
    expect(sessionCookie(answer)).toBeUndefined();
  });

  test('viewer is the account of the session, by bearer and by cookie', async () => {
    const { token, user } = await signUp(suite.url);
    const byBearer = await dataOf(suite.url, VIEWER, { token });
    expect(byBearer).toMatchObject({
      viewer: {
        id: user.id,
        role: 'USER',
        balanceUsd: '1.000000',
        monthlyQuotaTokens: null,
        plan: { name: 'free' },
      },
    });
    const byCookie = await operateAsPage(suite.url, 'query Viewer', { token });
    expect(byCookie.body.data).toMatchObject({ viewer: { id: user.id, email: user.email } });
    // As with REST, each request renews it.
    expect(sessionCookie(byCookie)).toBeDefined();
  });

  test('logout ends the session and clears the cookie', async () => {
    const { token } = await signUp(suite.url);
    const answer = await operateAsPage(suite.url, 'mutation LogOut', { token });
    expect(answer.body.data).toMatchObject({ logout: { success: true } });
    expect(sessionCookie(answer)!.line).toMatch(/^pr_session=;.*Expires=Thu, 01 Jan 1970/);
    expect(codesOf(await operate(suite.url, VIEWER, { token }))).toEqual(['unauthorized']);
  });

  test('changePassword ends all other sessions, and the old password stops working', async () => {
    const { token, user } = await signUp(suite.url);
    const other = await dataOf<{ login: Session }>(suite.url, LOGIN, {
      variables: { input: { email: user.email, password: PASSWORD } },
    });
    const change = 'mutation ($input: ChangePasswordInput!) { changePassword(input: $input) { success } }';
    const wrong = await operate(suite.url, change, {
      token,
      variables: { input: { currentPassword: 'not this one', newPassword: `${PASSWORD} 2` } },
    });
    expect(codesOf(wrong)).toEqual(['invalid_credentials']);
    const weak = await operate(suite.url, change, {
      token,
      variables: { input: { currentPassword: PASSWORD, newPassword: 'password' } },
    });
    expect(weak.body.errors![0]!.extensions.details).toEqual([
      { field: 'newPassword', message: expect.stringContaining('most common') },
    ]);
    await dataOf(suite.url, change, {
      token,
      variables: { input: { currentPassword: PASSWORD, newPassword: `${PASSWORD} 2` } },
    });
    expect(codesOf(await operate(suite.url, VIEWER, { token }))).toEqual([]);
    expect(codesOf(await operate(suite.url, VIEWER, { token: other.login.accessToken }))).toEqual([
      'unauthorized',
    ]);
    const old = await operate(suite.url, LOGIN, {
      variables: { input: { email: user.email, password: PASSWORD } },
    });
    expect(codesOf(old)).toEqual(['invalid_credentials']);
  });

  test('deleteAccount deletes the account', async () => {
    const { token, user } = await signUp(suite.url);
    const remove = 'mutation ($input: DeleteAccountInput!) { deleteAccount(input: $input) { success } }';
    const wrong = await operate(suite.url, remove, {
      token,
      variables: { input: { password: 'not this one' } },
    });
    expect(codesOf(wrong)).toEqual(['invalid_credentials']);
    await dataOf(suite.url, remove, { token, variables: { input: { password: PASSWORD } } });
    expect(codesOf(await operate(suite.url, VIEWER, { token }))).toEqual(['unauthorized']);
    const { rows } = await suite.db.pool.query('select email, name from accounts where id = $1', [user.id]);
    expect(rows).toEqual([{ email: null, name: '' }]);
  });

  test('failed log-ins are counted together with those over REST', async () => {
    const headers = { 'x-forwarded-for': '198.51.100.7' };
    const input = { email: `${randomUUID()}@example.com`, password: 'a guess' };
    for (let n = 0; n < 5; n++) {
      const guess = await operate(suite.url, LOGIN, { headers, variables: { input } });
      expect(codesOf(guess)).toEqual(['invalid_credentials']);
      expect((await call(suite.url, 'POST', '/api/auth/login', { headers, body: input })).status).toBe(401);
    }
    const refused = await operate(suite.url, LOGIN, { headers, variables: { input } });
    expect(codesOf(refused)).toEqual(['rate_limit_exceeded']);
    expect(refused.body.errors![0]!.extensions.retryAfterSeconds).toBeGreaterThan(800);
    expect((await call(suite.url, 'POST', '/api/auth/login', { headers, body: input })).status).toBe(429);
  });

  test('a page of another site can neither sign in nor act with the cookie', async () => {
    const { token, user } = await signUp(suite.url);
    const foreign = { origin: 'https://evil.example' };
    const login = await operate(suite.url, LOGIN, {
      headers: foreign,
      variables: { input: { email: user.email, password: PASSWORD } },
    });
    expect([login.status, codesOf(login)]).toEqual([403, ['cross_site_request']]);
    const act = await operate(suite.url, 'mutation { logout { success } }', {
      headers: { ...foreign, cookie: `pr_session=${token}` },
    });
    expect([act.status, codesOf(act)]).toEqual([403, ['cross_site_request']]);
    const sibling = await operate(suite.url, VIEWER, {
      headers: { cookie: `pr_session=${token}`, 'sec-fetch-site': 'same-site' },
    });
    expect(sibling.status).toBe(403);
    expect(codesOf(await operate(suite.url, VIEWER, { token }))).toEqual([]);
  });
});
