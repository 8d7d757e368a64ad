import { openOrm } from '../../src/db/orm.js';
import type { Clock } from '../../src/lib/clock.js';
import { sha256 } from '../../src/lib/crypto.js';
import { createLogger } from '../../src/lib/logger.js';
import { createVirtualKeys } from '../../src/router/virtual-keys.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startLink } from '../support/link.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import { until } from '../support/until.js';
import { ask, newKey, post } from './support.js';

const DEAD_DATABASE = 'postgresql://nobody@127.0.0.1:1/nothing';

describe('virtual keys', () => {
  let db: TestDatabase;
  let proxy: TestProxy;
  beforeAll(async () => {
    db = await createTestDatabase();
    proxy = await startTestProxy(db);
  });
  afterAll(async () => {
    await proxy.close();
    await db.close();
  });

  const chat = (key: string) =>
    post(`${proxy.url}/v1/chat/completions`, key, ask('[[sim ttft_ms=0 words=1]] x'));
  const info = (key: string, bearer = proxy.masterKey) =>
    fetch(`${proxy.url}/key/info?key=${encodeURIComponent(key)}`, {
      headers: { authorization: `Bearer ${bearer}` },
    });

  test("are created in LiteLLM's format and stored as a hash only", async () => {
    const response = await post(`${proxy.url}/key/generate`, proxy.masterKey, {
      user_id: 'account-1',
      key_alias: 'laptop',
      metadata: { unknown: true },
    });
    expect(response.status).toBe(200);
    const made = (await response.json()) as { key: string; token: string };
    expect(made).toMatchObject({
      key: expect.stringMatching(/^sk-[\w-]{32}$/),
      key_name: `sk-...${made.key.slice(-4)}`,
      token: expect.stringMatching(/^[0-9a-f]{64}$/),
      user_id: 'account-1',
      key_alias: 'laptop',
      expires: null,
    });
    const rows = await db.pool.query('select v::text as row, token_hash from virtual_keys v');
    const row = rows.rows.find((one) => one.token_hash.toString('hex') === made.token);
    expect(row.row).not.toContain(made.key);
    expect((await chat(made.key)).status).toBe(200);
    const shown = await info(made.key);
    expect(await shown.json()).toMatchObject({
      key: made.key,
      info: { user_id: 'account-1', key_alias: 'laptop', expires: null, token: made.token },
    });
  });

  test('stop working at once when they are deleted, by key or by hash', async () => {
    const first = await newKey(proxy);
    const second = await newKey(proxy);
    const { info: found } = (await (await info(second)).json()) as { info: { token: string } };
    expect((await chat(first)).status).toBe(200);
    expect((await chat(second)).status).toBe(200);
    const keys = [first, found.token, 'sk-never-was-a-key'];
    const response = await post(`${proxy.url}/key/delete`, proxy.masterKey, { keys });
    expect(await response.json()).toEqual({ deleted_keys: [first, found.token] });
    expect((await chat(first)).status).toBe(401);
    expect((await chat(second)).status).toBe(401);
    expect((await info(first)).status).toBe(404);
  });

  test.each([
    ['no key', undefined],
    ['an unknown key', 'Bearer sk-0123456789abcdefghijklmnopqrstuv'],
    ['a malformed key', 'Bearer nonsense'],
    ['another scheme', 'Basic c2s6c2s='],
  ])('are required: %s answers 401', async (_what, authorization) => {
    for (const [path, method] of [
      ['/v1/chat/completions', 'POST'],
      ['/v1/embeddings', 'POST'],
      ['/v1/models', 'GET'],
      ['/key/generate', 'POST'],
      ['/key/delete', 'POST'],
      ['/key/info?key=x', 'GET'],
    ] as const) {
      const response = await fetch(proxy.url + path, {
        method,
        headers: authorization ? { authorization } : {},
      });
      expect([path, response.status]).toEqual([path, 401]);
      expect(await response.json()).toEqual({
        error: { message: expect.any(String), type: 'auth_error', param: null, code: '401' },
      });
    }
  });

  test('may be sent with 60 KB of other headers, as at the edge', async () => {
    const headers = { authorization: `Bearer ${proxy.masterKey}`, 'x-padding': 'y'.repeat(60_000) };
    expect((await fetch(`${proxy.url}/v1/models`, { headers })).status).toBe(200);
  });

  test("can't manage keys, while the master key can call models", async () => {
    const key = await newKey(proxy);
    expect((await post(`${proxy.url}/key/generate`, key, {})).status).toBe(401);
    expect((await post(`${proxy.url}/key/delete`, key, { keys: [key] })).status).toBe(401);
    expect((await info(key, key)).status).toBe(401);
    expect((await chat(proxy.masterKey)).status).toBe(200);
  });

  test.each([
    ['/key/generate', '{'],
    ['/key/generate', '[]'],
    ['/key/generate', { user_id: 7 }],
    ['/key/delete', {}],
    ['/key/delete', { keys: [] }],
    ['/key/delete', { keys: [''] }],
  ])('refuse bad input: %s %j', async (path, body) => {
    const response = await post(proxy.url + path, proxy.masterKey, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  test.each(['cut', 'freeze'] as const)(
    'that are in use survive an outage of the database (%s); unknown ones get 503, never 401',
    async (fault) => {
      const link = await startLink(db.url);
      const orm = openOrm({ databaseUrl: link.url, processName: 'outage' });
      const other = await startTestProxy(db, { orm });
      try {
        const call = (key: string) =>
          post(`${other.url}/v1/chat/completions`, key, ask('[[sim ttft_ms=0 words=1]] x'));
        const known = await newKey(proxy);
        const unseen = await newKey(proxy);
        expect((await call(known)).status).toBe(200);
        await link[fault]();
        expect((await call(known)).status).toBe(200);
        const refused = await call(unseen);
        expect(refused.status).toBe(503);
        expect(refused.headers.get('retry-after')).toBe('1');
        expect((await call(known)).status).toBe(200);
        const master = (path: string, body: unknown) => post(other.url + path, other.masterKey, body);
        expect((await master('/key/generate', {})).status).toBe(503);
        expect((await master('/key/delete', { keys: ['sk-x'] })).status).toBe(503);
      } finally {
        await link.cut().catch(() => undefined);
        await other.close();
        await orm.close(true);
      }
    },
  );

  test('are looked up again if the database was down at the start', async () => {
    const orm = openOrm({ databaseUrl: DEAD_DATABASE, processName: 'dead' });
    const other = await startTestProxy(db, { orm });
    try {
      const response = await post(`${other.url}/v1/chat/completions`, await newKey(proxy), ask('x'));
      expect((await fetch(`${other.url}/health/ready`)).status).toBe(200);
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({ error: { code: 'service_unavailable' } });
      expect((await post(`${other.url}/v1/chat/completions`, other.masterKey, ask('x'))).status).toBe(200);
    } finally {
      await other.close();
      await orm.close(true);
    }
  });

  describe('of two processes', () => {
    let time = 1_000_000;
    const clock: Clock = { now: () => time };
    const log = createLogger('test', 'silent');
    const make = () => createVirtualKeys({ orm: db.orm, clock, log });

    test('created by one are accepted by the other within a second of being refused', async () => {
      const [one, other] = [make(), make()];
      const { key } = await one.generate({ userId: null, keyAlias: null });
      await one.remove([key]);
      expect(await other.check(key)).toBe('unknown');
      const hash = `\\x${sha256(key).toString('hex')}`;
      await db.pool.query('insert into virtual_keys (token_hash, created_at) values ($1, now())', [hash]);
      expect(await other.check(key)).toBe('unknown');
      time += 1_001;
      expect(await other.check(key)).toBe('known');
    });

    test('deleted by one are refused by the other after five seconds', async () => {
      const [one, other] = [make(), make()];
      const { key } = await one.generate({ userId: null, keyAlias: null });
      expect(await other.check(key)).toBe('known');
      await one.remove([key]);
      expect(await one.check(key)).toBe('unknown');
      time += 5_001;
      await until(async () => (await other.check(key)) === 'unknown');
    });

    test('are not brought back by a look-up whose answer comes after the deletion', async () => {
      const link = await startLink(db.url);
      const orm = openOrm({ databaseUrl: link.url, processName: 'slow' });
      try {
        const keys = createVirtualKeys({ orm, clock, log });
        const { key } = await make().generate({ userId: null, keyAlias: null });
        expect(await keys.info(key)).toBeDefined();
        const release = link.holdAnswers();
        const { rows } = await db.pool.query<{ now: string }>('select clock_timestamp()::text as now');
        const slow = keys.check(key);
        // The database has answered before the key is deleted; the answer is on its way.
        await until(async () => {
          const answered = await db.pool.query(
            `select from pg_stat_activity where application_name like '%slow' and state = 'idle'
               and query like '%from virtual_keys where token_hash =%' and query_start > $1`,
            [rows[0]!.now],
          );
          return answered.rowCount === 1;
        });
        expect(await keys.remove([key])).toEqual([key]);
        release();
        expect(await slow).toBe('known');
        expect(await keys.check(key)).toBe('unknown');
      } finally {
        await orm.close(true);
        await link.cut();
      }
    });
  });
});
