import { HOOK } from '../alerts/alerts-api.js';
import { signUpAdmin } from '../support/admin.js';
import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { createTestKey } from '../support/edge.js';
import { platformRoutes } from '../support/platform-routes.js';
import { usePlatform } from '../support/platform-suite.js';

const ANY_ID = '01900000-0000-7000-8000-000000000000';
const FIELD = 'no_field';

interface Reference {
  paths: Record<string, Record<string, { requestBody?: object }>>;
}

describe("a field that an operation doesn't have", () => {
  const suite = usePlatform();
  let token: string;
  let reference: Reference;
  beforeAll(async () => {
    ({ token } = await signUpAdmin(suite));
    reference = (await call<Reference>(suite.url, 'GET', '/openapi.json')).body;
  });

  const routes = platformRoutes.filter(({ url, auth }) => url.startsWith('/api/') && auth !== 'internal');
  const reads = routes.filter(({ method }) => method === 'GET');
  const writes = routes.filter(({ method }) => method !== 'GET');
  const templateOf = (url: string): string => url.replace(/:(\w+)/g, '{$1}');
  const hasBody = ({ method, url }: (typeof routes)[number]): boolean =>
    reference.paths[templateOf(url)]![method.toLowerCase()]!.requestBody !== undefined;
  /** Fields that the answer to a request names, behind its status. */
  const ask = async ({ method, url }: (typeof routes)[number], query: string, body?: unknown) => {
    const path = url.replace(':month', '2026-11').replace(/:\w+/g, ANY_ID) + query;
    const answer = await call<ErrorAnswer>(suite.url, method, path, { token, body });
    const fields = answer.body?.error?.details?.map(({ field }) => field) ?? [];
    return [`${method} ${url}`, answer.status, fields.filter((field) => field === FIELD)];
  };

  test('is refused in the query of every read', async () => {
    expect(reads.length).toBeGreaterThan(40);
    for (const route of reads) {
      expect(await ask(route, `?${FIELD}=1`)).toEqual([`GET ${route.url}`, 422, [FIELD]]);
    }
  });

  test('is refused in query and body of every write without fields', async () => {
    const bare = writes.filter((route) => !hasBody(route));
    expect(bare.length).toBeGreaterThan(12);
    for (const route of bare) {
      const name = `${route.method} ${route.url}`;
      expect(await ask(route, `?${FIELD}=1`)).toEqual([name, 422, [FIELD]]);
      expect(await ask(route, '', { [FIELD]: 1 })).toEqual([name, 422, [FIELD]]);
      expect(await ask(route, '', [])).toEqual([name, 422, []]);
    }
  });

  test('is refused in the query of a write with a body', async () => {
    const { keyId } = await createTestKey(suite.db, { accountId: (await signUp(suite.url)).user.id });
    for (const [method, path, body] of [
      ['POST', '/api/keys', { name: 'a key' }],
      ['PATCH', `/api/keys/${keyId}`, { name: 'another name' }],
      ['POST', `/api/keys/${keyId}/alerts`, { kind: 'webhook', destination: HOOK, thresholds_pct: [80] }],
      ['PUT', '/api/billing/low-balance-alert', { threshold_usd: null }],
      ['DELETE', '/api/auth/me', { password: 'wrong password' }],
    ] as const) {
      const answer = await call<ErrorAnswer>(suite.url, method, `${path}?${FIELD}=1`, { token, body });
      expect([method, path, answer.status, answer.body.error.param]).toEqual([method, path, 422, FIELD]);
    }
  });

  test('is refused only after authentication', async () => {
    const answer = await call<ErrorAnswer>(suite.url, 'GET', `/api/auth/me?${FIELD}=1`);
    expect([answer.status, answer.body.error.code]).toEqual([401, 'unauthorized']);
  });

  test.each([
    ['is absent', undefined],
    ['is null', null],
    ['is {}', {}],
  ])('and a write without a body runs when its body %s', async (_name, body) => {
    const user = await signUp(suite.url);
    const logout = await call(suite.url, 'POST', '/api/auth/logout', { token: user.token, body });
    expect(logout.status).toBe(204);
  });

  test("a value for another field doesn't change the version of a prompt unguarded", async () => {
    const make = async <T>(path: string, body: object): Promise<T> =>
      (await call<T>(suite.url, 'POST', path, { token, body })).body;
    const prompt = await make<{ id: string }>('/api/prompts', { name: 'Guarded', content: 'one' });
    const path = `/api/prompts/${prompt.id}`;
    const { id } = await make<{ id: string }>(`${path}/versions`, { content: 'two' });
    const expected = { expected_revision: 0 };
    const moved = await call(suite.url, 'POST', `${path}/versions/${id}/activate`, { token, body: expected });
    const renamed = await call(suite.url, 'PATCH', `${path}?expected_revision=0`, {
      token,
      body: { name: 'Renamed' },
    });
    expect([moved.status, renamed.status]).toEqual([422, 422]);
    const { body } = await call<Record<string, unknown>>(suite.url, 'GET', path, { token });
    expect(body).toMatchObject({ name: 'Guarded', active_version: { content: 'one' } });
  });
});
