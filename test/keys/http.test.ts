import { hasKeyForm } from '../../src/lib/key-form.js';
import { createVirtualKeyClient } from '../../src/services/keys/virtual-keys.js';
import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { startTestPlatform } from '../support/platform.js';
import { usePlatform } from '../support/platform-suite.js';
import { HASTY_MS, type KeyProxy, MASTER_KEY, startKeyProxy } from './fixtures.js';

interface Key {
  id: string;
  name: string;
  status: string;
}

describe('API keys over HTTP', () => {
  let proxy: KeyProxy;
  let token: string;
  beforeAll(async () => {
    proxy = await startKeyProxy();
  });
  const virtualKeys = (timeoutMs: number) =>
    createVirtualKeyClient({ url: proxy.url, masterKey: MASTER_KEY, timeoutMs });
  const suite = usePlatform(() => ({ virtualKeys: virtualKeys(30_000) }));
  afterAll(() => proxy.close());
  beforeEach(async () => {
    proxy.behaviour = 'works';
    proxy.keys.clear();
    token = (await signUp(suite.url)).token;
  });

  const send = <T = ErrorAnswer>(method: string, path: string, body?: unknown) =>
    call<T>(suite.url, method, path, { token, body });
  const create = (name = 'laptop') => send<{ key: string; api_key: Key }>('POST', '/api/keys', { name });

  test('a key is created (201, secret once), read, listed, changed and deleted (204)', async () => {
    const created = await create();
    expect(created.status).toBe(201);
    expect(hasKeyForm(created.body.key)).toBe(true);
    const { api_key } = created.body;
    expect(api_key).toMatchObject({ name: 'laptop', status: 'active', has_upstream: true });
    const path = `/api/keys/${api_key.id}`;
    expect((await send<Key>('GET', path)).body).toEqual(api_key);
    expect((await send<Key[]>('GET', '/api/keys')).body).toEqual([api_key]);

    const changed = await send<Key>('PATCH', path, {
      daily_limit_usd: 0.5,
      status: 'disabled',
      name: ' desk ',
    });
    expect(changed.status).toBe(200);
    expect(changed.body).toEqual({
      ...api_key,
      name: 'desk',
      status: 'disabled',
      daily_limit_usd: '0.500000',
    });

    const deleted = await send('DELETE', path);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await send('GET', path)).status).toBe(404);
    expect(proxy.keys.size).toBe(0);
  });

  test('a key that is deleted by its ID in capitals loses its virtual key', async () => {
    const { body } = await create();
    expect(proxy.keys.size).toBe(1);
    expect((await send('DELETE', `/api/keys/${body.api_key.id.toUpperCase()}`)).status).toBe(204);
    expect(proxy.keys.size).toBe(0);
  });

  test('only the first response contains the secret, and none its hash or virtual key', async () => {
    const { key, api_key } = (await create()).body;
    const [virtualKey] = proxy.keys.keys();
    const answers = await Promise.all([
      send('GET', '/api/keys'),
      send('GET', `/api/keys/${api_key.id}`),
      send('PATCH', `/api/keys/${api_key.id}`, { name: 'b' }),
    ]);
    for (const { text } of answers) {
      expect(text).toContain(api_key.id);
      for (const secret of [key, key.slice(10, -4), virtualKey!, 'sealed', 'hash']) {
        expect(text).not.toContain(secret);
      }
    }
  });

  test("a proxy that doesn't answer leaves the key without a virtual key", async () => {
    const hasty = await startTestPlatform(suite.db, { virtualKeys: virtualKeys(HASTY_MS) });
    try {
      proxy.behaviour = 'hangs';
      const body = { name: 'laptop' };
      const created = await call<{ api_key: Key }>(hasty.url, 'POST', '/api/keys', { token, body });
      expect(created.status).toBe(201);
      expect(created.body.api_key).toMatchObject({ has_upstream: false });
    } finally {
      await hasty.close();
    }
  });

  test.each([
    ['name', 'POST', {}],
    ['name', 'POST', { name: '  ' }],
    ['name', 'POST', { name: 'x'.repeat(101) }],
    ['name', 'POST', { name: 'a\u0000' }],
    ['status', 'POST', { name: 'a', status: 'active' }],
    ['body', 'PATCH', {}],
    ['monthly_limit_usd', 'PATCH', { monthly_limit_usd: -1 }],
    ['daily_limit_usd', 'PATCH', { daily_limit_usd: 1e-13 }],
    ['daily_limit_usd', 'PATCH', { daily_limit_usd: 1_000_001 }],
    ['key_prefix', 'PATCH', { name: 'a', key_prefix: 'sk-pr-mine' }],
  ])('422 names %s (%s %j)', async (field, method, body) => {
    const path = method === 'POST' ? '/api/keys' : `/api/keys/${(await create()).body.api_key.id}`;
    const answer = await send(method, path, body);
    expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
    expect(answer.body.error.details?.map((detail) => detail.field)).toEqual([field]);
  });

  test("another account's key, a malformed ID and a missing key all return 404 not_found, on every operation", async () => {
    const { api_key } = (await create()).body;
    token = (await signUp(suite.url)).token;
    const missing = await send('GET', '/api/keys/0193c1c0-0000-7000-8000-000000000000');
    for (const id of [api_key.id, 'x', '%00', `${api_key.id}'--`]) {
      for (const [method, body] of [['GET'], ['PATCH', { name: 'stolen' }], ['DELETE']] as const) {
        const answer = await send(method, `/api/keys/${id}`, body);
        expect([method, id, answer.status, answer.body]).toEqual([method, id, 404, missing.body]);
      }
    }
    expect((await send('GET', '/api/keys')).body).toEqual([]);
  });

  test.each([
    ['POST', '/api/keys'],
    ['GET', '/api/keys'],
    ['GET', '/api/keys/x'],
    ['PATCH', '/api/keys/x'],
    ['DELETE', '/api/keys/x'],
  ])('%s %s requires a session', async (method, path) => {
    const body = method === 'GET' || method === 'DELETE' ? undefined : { name: 'a' };
    const answer = await call<ErrorAnswer>(suite.url, method, path, { body });
    expect([answer.status, answer.body.error.code]).toEqual([401, 'unauthorized']);
  });
});
