import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { call, type ErrorAnswer, PASSWORD, sessionCookie, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';

const PUBLIC = 'https://gateway.example.com';

describe('writes with the session cookie', () => {
  const suite = usePlatform({ env: { PUBLIC_BASE_URL: PUBLIC } });

  /** A log-out that a page made, with a fresh session each time. */
  const logout = async (headers: Record<string, string>) => {
    const { token } = await signUp(suite.url);
    const answer = await call<ErrorAnswer>(suite.url, 'POST', '/api/auth/logout', {
      headers: { cookie: `pr_session=${token}`, ...headers },
    });
    const after = await call(suite.url, 'GET', '/api/auth/me', { token });
    return { status: answer.status, code: answer.body?.error.code, alive: after.status === 200 };
  };

  test.each([
    ['the public origin', { origin: PUBLIC }],
    ['the public origin, by fetch metadata too', { origin: PUBLIC, 'sec-fetch-site': 'same-origin' }],
    ['fetch metadata alone', { 'sec-fetch-site': 'same-origin' }],
    ['the person alone', { 'sec-fetch-site': 'none' }],
    ['no browser at all', {}],
  ])('are accepted from %s', async (_what, headers: Record<string, string>) => {
    expect(await logout(headers)).toMatchObject({ status: 204, alive: false });
  });

  test("are refused from the requested host if that isn't the public one", async () => {
    // A name of somebody else's that leads here: its pages are of the same origin as this request.
    expect(await logout({ origin: suite.url })).toMatchObject({ status: 403, alive: true });
  });

  test.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['a longer host', { origin: `${PUBLIC}.evil.example` }],
    ['another scheme', { origin: 'http://gateway.example.com' }],
    ['another port', { origin: `${PUBLIC}:8443` }],
    ['an opaque origin', { origin: 'null' }],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a sibling of this site', { 'sec-fetch-site': 'same-site' }],
    ['a liar about its origin', { origin: PUBLIC, 'sec-fetch-site': 'cross-site' }],
    ['a liar about its site', { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }],
  ])('are refused from %s', async (_what, headers: Record<string, string>) => {
    expect(await logout(headers)).toEqual({ status: 403, code: 'cross_site_request', alive: true });
  });

  test.each(['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x'])(
    'are refused as a form of %s, even from this site',
    async (type) => {
      const { token } = await signUp(suite.url);
      const response = await call(suite.url, 'POST', '/api/auth/password', {
        headers: { cookie: `pr_session=${token}`, origin: PUBLIC, 'content-type': type },
        body: { current_password: 'correct horse battery staple', new_password: 'a whole new password' },
      });
      expect(response.status).toBe(415);
    },
  );

  test('a bearer needs no origin: no browser sends it by itself', async () => {
    const { token } = await signUp(suite.url);
    const answer = await call(suite.url, 'POST', '/api/auth/logout', {
      token,
      headers: { origin: 'https://app.example', 'sec-fetch-site': 'cross-site', cookie: 'pr_session=x' },
    });
    expect(answer.status).toBe(204);
  });

  test("reading isn't writing", async () => {
    const { token } = await signUp(suite.url);
    const answer = await call(suite.url, 'GET', '/api/auth/me', {
      headers: { cookie: `pr_session=${token}`, 'sec-fetch-site': 'cross-site' },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('on a machine whose public address is its own', () => {
  const suite = usePlatform();

  const logout = async (host: string, origin: string): Promise<number | undefined> => {
    const { token } = await signUp(suite.url);
    const { hostname, port } = new URL(suite.url);
    // `fetch` sets Host by itself.
    return new Promise((resolve, reject) => {
      const request = http.request(
        {
          hostname,
          port,
          method: 'POST',
          path: '/api/auth/logout',
          headers: { host, origin, cookie: `pr_session=${token}` },
        },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      );
      request.on('error', reject).end();
    });
  };

  test.each(['localhost:5000', '127.0.0.1:5000', '[::1]:5000'])(
    'writes are accepted from %s',
    async (host) => {
      expect(await logout(host, `http://${host}`)).toBe(204);
    },
  );

  test.each([
    ['a name that leads here', 'rebound.example:5000', 'http://rebound.example:5000'],
    ['another port', 'localhost:5000', 'http://localhost:5001'],
    ['another of its names', 'localhost:5000', 'http://127.0.0.1:5000'],
  ])('writes are refused from %s', async (_what, host, origin) => {
    expect(await logout(host, origin)).toBe(403);
  });
});

describe('log-in and sign-up, which set the session cookie', () => {
  const suite = usePlatform({ env: { PUBLIC_BASE_URL: PUBLIC } });
  let email: string;
  beforeAll(async () => {
    email = (await signUp(suite.url)).user.email;
  });

  const ask = (path: string, headers: Record<string, string>) =>
    call<ErrorAnswer>(suite.url, 'POST', `/api/auth/${path}`, {
      headers,
      body:
        path === 'login'
          ? { email, password: PASSWORD }
          : { email: `${randomUUID()}@example.com`, password: PASSWORD, name: 'Ada' },
    });

  describe.each(['login', 'signup'])('%s', (path) => {
    test.each([
      ['another origin', { origin: 'https://evil.example' }],
      ['an opaque origin', { origin: 'null' }],
      ['another site', { 'sec-fetch-site': 'cross-site' }],
      ['a sibling of this site', { 'sec-fetch-site': 'same-site' }],
      ['another site with a bearer', { 'sec-fetch-site': 'cross-site', authorization: 'Bearer x' }],
    ])('is refused from %s and sets no cookie', async (_what, headers: Record<string, string>) => {
      const answer = await ask(path, headers);
      expect([answer.status, answer.body.error.code]).toEqual([403, 'cross_site_request']);
      expect(sessionCookie(answer)).toBeUndefined();
    });

    test.each([
      ['this site', { origin: PUBLIC, 'sec-fetch-site': 'same-origin' }],
      ['no browser at all', {}],
    ])('is accepted from %s', async (_what, headers: Record<string, string>) => {
      const answer = await ask(path, headers);
      expect(answer.status).toBe(200);
      expect(sessionCookie(answer)).toBeDefined();
    });
  });
});
