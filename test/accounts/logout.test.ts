import { call, sessionCookie, signUp } from '../support/api.js';
import { isBlocking } from '../support/blocked.js';
import { startTestPlatform, type TestPlatform } from '../support/platform.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';

describe('POST /api/auth/logout', () => {
  const suite = usePlatform();
  let other: TestPlatform;
  beforeAll(async () => {
    other = await startTestPlatform(suite.db);
  });
  afterAll(() => other.close());

  const status = async (url: string, headers: Record<string, string>) =>
    (await call(url, 'GET', '/api/auth/me', { headers })).status;

  test('ends every token of the session, on every process at once', async () => {
    const { token } = await signUp(suite.url);
    const renewed = sessionCookie(
      await call(suite.url, 'GET', '/api/auth/me', { headers: { cookie: `pr_session=${token}` } }),
    )!.value;
    const answer = await call(suite.url, 'POST', '/api/auth/logout', { token });
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await status(other.url, { authorization: `Bearer ${token}` })).toBe(401);
    expect(await status(other.url, { cookie: `pr_session=${renewed}` })).toBe(401);
  });

  test('clears the cookie instead of renewing it', async () => {
    const { token } = await signUp(suite.url);
    const answer = await call(suite.url, 'POST', '/api/auth/logout', {
      headers: { cookie: `pr_session=${token}`, 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(204);
    expect(answer.headers.getSetCookie()).toHaveLength(1);
    expect(sessionCookie(answer)!.value).toBe('');
    expect(sessionCookie(answer)!.line).toMatch(/Expires=Thu, 01 Jan 1970/);
    expect(await status(suite.url, { cookie: `pr_session=${token}` })).toBe(401);
  });

  test("isn't undone by a request in progress: that is rejected, and its response sets no cookie", async () => {
    const { token } = await signUp(suite.url);
    const headers = { cookie: `pr_session=${token}`, 'content-type': 'application/json' };
    const created = await call<{ api_key: { id: string } }>(suite.url, 'POST', '/api/keys', {
      token,
      body: { name: 'First' },
    });
    const { id } = created.body.api_key;
    const rename = () => call(suite.url, 'PATCH', `/api/keys/${id}`, { headers, body: { name: 'Second' } });
    expect(sessionCookie(await rename())).toBeDefined();
    const holder = await suite.db.pool.connect();
    try {
      await holder.query('begin');
      await holder.query('select 1 from api_keys where id = $1 for update', [id]);
      const pending = rename();
      await until(() => isBlocking(suite.db.pool, holder));
      expect((await call(suite.url, 'POST', '/api/auth/logout', { headers })).status).toBe(204);
      await holder.query('rollback');
      const late = await pending;
      expect(late.status).toBe(401);
      expect(late.headers.getSetCookie()).toEqual([]);
    } finally {
      holder.release();
    }
  });

  test('needs a session', async () => {
    expect((await call(suite.url, 'POST', '/api/auth/logout')).status).toBe(401);
  });
});
