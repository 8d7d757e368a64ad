import { randomBytes } from 'node:crypto';
import { loadWebBuild } from '../../src/pages/web-build.js';
import { call, PASSWORD, type SessionAnswer, sessionCookie, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { TEST_SECRETS } from '../support/secrets.js';
import { until } from '../support/until.js';
import { codesOf, documentIdOf, follow, type GraphqlAnswer, operate, socketClient } from './support.js';

const QUERY = '{ viewer { email } }';
/** Days of a window that can be chosen in the dashboard. */
const WINDOWS = [1, 7, 30, 90];

/** A script injected into a page has the cookie, but can only send what the page itself sends. */
describe('documents of the web pages', () => {
  /** Production refuses secrets that can be guessed, as those of the tests can, and cheap hashes. */
  const production = (): Record<string, string> => ({
    NODE_ENV: 'production',
    PASSWORD_HASH_PROFILE: 'owasp',
    ...Object.fromEntries(
      Object.keys(TEST_SECRETS).map((name) => [name, randomBytes(48).toString('base64')]),
    ),
  });

  // Its secrets are its own, and they seal what is in the database.
  const suite = usePlatform({ own: true, env: production() });
  let email: string;
  let token: string;
  let cookie: string;
  beforeAll(async () => {
    ({
      token,
      user: { email },
    } = await signUp(suite.url));
    const answer = await call<SessionAnswer>(suite.url, 'POST', '/api/auth/login', {
      body: { email, password: PASSWORD },
    });
    cookie = `pr_session=${sessionCookie(answer)!.value}`;
  });

  const byId = (documentId: unknown, headers: Record<string, string> = {}) =>
    call<GraphqlAnswer<{ viewer: { email: string } }>>(suite.url, 'POST', '/graphql', {
      headers,
      body: { documentId },
    });

  test('run by their ID with the cookie', async () => {
    const answer = await byId(documentIdOf('query Viewer'), { cookie });
    expect(answer.status).toBe(200);
    expect(answer.body.data?.viewer.email).toBe(email);
  });

  test.each([
    ['a text', { query: QUERY }],
    ['nothing', {}],
    ['a text beside a null id', { query: QUERY, documentId: null }],
  ])('with the cookie alone, %s is refused', async (_name, body) => {
    const answer = await call<GraphqlAnswer>(suite.url, 'POST', '/graphql', { headers: { cookie }, body });
    expect(answer.status).toBe(403);
    expect(codesOf(answer)).toEqual(['document_not_trusted']);
    expect(answer.text).not.toContain(email);
  });

  test('with a window accept each window that can be chosen', async () => {
    const id = '01900000-0000-7000-8000-000000000000';
    const asked = { id, version: id, model: 'gateway/fast', first: 1, second: 1, timeZone: 'UTC' };
    // The leaderboard has windows of its own.
    const withWindow = [...loadWebBuild()!.documents].filter(
      ([, text]) => /viewer \{.*windowDays: \$window/s.test(text) && !text.includes('leaderboard'),
    );
    expect(withWindow.length).toBeGreaterThan(3);
    for (const [documentId, text] of withWindow) {
      for (const window of WINDOWS) {
        const answer = await call<GraphqlAnswer>(suite.url, 'POST', '/graphql', {
          headers: { cookie },
          body: { documentId, variables: { ...asked, window, unit: window === 1 ? 'HOUR' : 'DAY' } },
        });
        const refused = codesOf(answer).filter((code) => code !== 'not_found');
        const what = [/query \w+/.exec(text)![0], window];
        expect([what, refused]).toEqual([what, []]);
      }
    }
  });

  test('ignore a text next to their ID', async () => {
    const body = { query: '{ plans { name } }', documentId: documentIdOf('query Viewer') };
    const answer = await call<GraphqlAnswer>(suite.url, 'POST', '/graphql', { headers: { cookie }, body });
    expect(Object.keys(answer.body.data!)).toEqual(['__typename', 'installation', 'viewer']);
  });

  test.each(['f'.repeat(64), '', '__proto__', 7, {}, []])(
    'with an invalid ID, %j, are refused',
    async (id) => {
      const credentials: Record<string, string>[] = [{ cookie }, { authorization: `Bearer ${token}` }];
      for (const headers of credentials) {
        const answer = await byId(id, headers);
        expect(answer.status).toBe(400);
        expect(codesOf(answer)).toEqual(['unknown_document']);
      }
    },
  );

  test('a bearer runs any text, with or without the cookie; so does an anonymous caller', async () => {
    const session = await operate<{ viewer: { email: string } }>(suite.url, QUERY, {
      token,
      headers: { cookie },
    });
    expect(session.body.data?.viewer.email).toBe(email);
    const anonymous = await operate(suite.url, '{ plans { name } }');
    expect(anonymous.body.errors).toBeUndefined();
  });

  test('follow the same rules over WebSocket', async () => {
    const client = socketClient(suite.url, { headers: { cookie, origin: suite.url } });
    const refused = follow(client, 'subscription { usageRecorded { id } }');
    await until(() => refused.ended);
    expect(refused.error).toMatchObject([{ extensions: { code: 'document_not_trusted' } }]);
    const results: unknown[] = [];
    client.subscribe(
      { query: '', extensions: { documentId: documentIdOf('query Viewer') } },
      { next: (result) => results.push(result), error: () => undefined, complete: () => undefined },
    );
    await until(() => results.length > 0);
    expect(results).toMatchObject([{ data: { viewer: { email } } }]);
    await client.dispose();
  });
});

describe('outside production', () => {
  const suite = usePlatform();

  test('a cookie session may send any document', async () => {
    const { user } = await signUp(suite.url);
    const login = await call<SessionAnswer>(suite.url, 'POST', '/api/auth/login', {
      body: { email: user.email, password: PASSWORD },
    });
    const answer = await call<GraphqlAnswer<{ viewer: { email: string } }>>(suite.url, 'POST', '/graphql', {
      headers: { cookie: `pr_session=${sessionCookie(login)!.value}` },
      body: { query: QUERY },
    });
    expect(answer.body.data?.viewer.email).toBe(user.email);
  });
});
