import pg from 'pg';
import { INVALIDATION_CHANNEL } from '../../src/db/invalidation.js';
import { updateKeyInput } from '../../src/services/keys/keys.inputs.js';
import { contextOf, insertAccount } from '../billing/fixtures.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { type Behaviour, HASTY_MS, type KeyProxy, keysServiceAt, startKeyProxy } from './fixtures.js';

describe('changing and deleting a key', () => {
  let db: TestDatabase;
  let proxy: KeyProxy;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());
  beforeEach(async () => {
    proxy = await startKeyProxy();
  });
  afterEach(() => proxy.close());

  const newKey = async () => {
    const keys = keysServiceAt(proxy.url);
    const context = contextOf(db, await insertAccount(db));
    const { api_key } = await keys.create(context, { name: 'a' });
    const patch = (body: unknown) => keys.update(context, { ...updateKeyInput.parse(body), id: api_key.id });
    return { keys, context, api_key, patch };
  };

  test('limits are set exactly, kept when omitted, and removed by null', async () => {
    const { patch } = await newKey();
    expect(await patch({ monthly_limit_usd: 12.5, daily_limit_usd: 1e-7 })).toMatchObject({
      monthly_limit_usd: '12.500000',
      daily_limit_usd: '0.0000001',
    });
    expect(await patch({ name: 'b' })).toMatchObject({ name: 'b', monthly_limit_usd: '12.500000' });
    expect(await patch({ monthly_limit_usd: null })).toMatchObject({
      monthly_limit_usd: null,
      daily_limit_usd: '0.0000001',
    });
    expect(await patch({ daily_limit_usd: 0 })).toMatchObject({ daily_limit_usd: '0.000000' });
  });

  test('a limit is returned as it was set, to the last digit', async () => {
    const { patch } = await newKey();
    const given = await patch({ monthly_limit_usd: '1.5', daily_limit_usd: '123456.123456789012' });
    const { monthly_limit_usd, daily_limit_usd } = given;
    expect([monthly_limit_usd, daily_limit_usd]).toEqual(['1.500000', '123456.123456789012']);
    expect(await patch({ monthly_limit_usd, daily_limit_usd })).toEqual(given);
  });

  test('a key is disabled and enabled again', async () => {
    const { patch, keys, context, api_key } = await newKey();
    expect(await patch({ status: 'disabled' })).toMatchObject({ status: 'disabled' });
    expect(await keys.get(context, { id: api_key.id })).toMatchObject({ status: 'disabled' });
    expect(await patch({ status: 'active' })).toMatchObject({ status: 'active' });
  });

  test.each([
    [{}],
    [{ status: 'deleted' }],
    [{ status: null }],
    [{ name: null }],
    [{ monthly_limit_usd: '5 dollars' }],
    [{ daily_limit_usd: '0.0000000000001' }],
    [{ monthly_limit_usd: -1 }],
    [{ daily_limit_usd: 1_000_001 }],
    [{ daily_limit_usd: 1e-13 }],
    [{ name: 'a', key_prefix: 'sk-pr-mine' }],
  ])('%j is not valid', (body) => expect(updateKeyInput.safeParse(body).success).toBe(false));

  test('deleting removes the row, and then the virtual key at the proxy', async () => {
    const { keys, context, api_key } = await newKey();
    expect(proxy.keys.size).toBe(1);
    await keys.remove(context, { id: api_key.id });
    expect(proxy.keys.size).toBe(0);
    await expect(keys.get(context, { id: api_key.id })).rejects.toMatchObject({ code: 'not_found' });
    await expect(keys.remove(context, { id: api_key.id })).rejects.toMatchObject({ code: 'not_found' });
  });

  test.each<Behaviour>(['refuses', 'hangs', 'hangs up'])(
    "a proxy that %s doesn't prevent deleting a key",
    async (behaviour) => {
      const { keys, context, api_key } = await newKey();
      proxy.behaviour = behaviour;
      const service = behaviour === 'hangs' ? keysServiceAt(proxy.url, HASTY_MS) : keys;
      await service.remove(context, { id: api_key.id });
      expect(await keys.list(context, { limit: 5, offset: 0 })).toEqual([]);
    },
  );

  test("an unreadable virtual key doesn't prevent deleting its key", async () => {
    const { keys, context, api_key } = await newKey();
    await db.pool.query(`update api_keys set virtual_key_sealed = 'v1.x.y' where id = $1`, [api_key.id]);
    await keys.remove(context, { id: api_key.id });
    expect(await keys.list(context, { limit: 5, offset: 0 })).toEqual([]);
    expect(proxy.calls).toEqual(['/key/generate']);
  });

  test('edges are notified of every change after its commit, and not without a change', async () => {
    const client = new pg.Client({ connectionString: db.url });
    await client.connect();
    const heard: string[] = [];
    client.on('notification', (message) => heard.push(message.payload ?? ''));
    await client.query(`listen ${INVALIDATION_CHANNEL}`);
    try {
      const { keys, context, api_key, patch } = await newKey();
      await patch({ name: 'b' });
      const stranger = contextOf(db, await insertAccount(db));
      await expect(keys.remove(stranger, { id: api_key.id })).rejects.toThrow();
      await keys.remove(context, { id: api_key.id });
      await db.pool.query(`select pg_notify('${INVALIDATION_CHANNEL}', 'end')`);
      await until(() => heard.includes('end'));
      const change = `key:${api_key.id}:${context.viewer!.accountId}`;
      expect(heard).toEqual([change, change, change, 'end']);
    } finally {
      await client.end();
    }
  });
});
