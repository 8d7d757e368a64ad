import { keysConnectionInput } from '../../src/services/keys/keys.inputs.js';
import { contextOf, insertAccount } from '../billing/fixtures.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type KeyProxy, keysServiceAt, startKeyProxy } from './fixtures.js';

const LAST_OF_MONTH = Date.UTC(2026, 10, 30, 23, 59, 59, 999);

describe('reading keys', () => {
  let db: TestDatabase;
  let proxy: KeyProxy;
  beforeAll(async () => {
    db = await createTestDatabase();
    proxy = await startKeyProxy();
  });
  afterAll(async () => {
    await db.close();
    await proxy.close();
  });

  test('the list is newest first and paged, and a single key has the same fields', async () => {
    const keys = keysServiceAt(proxy.url);
    const accountId = await insertAccount(db);
    let now = LAST_OF_MONTH;
    const context = contextOf(db, accountId, () => now);
    for (const name of ['a', 'b', 'c']) {
      now += 1000;
      await keys.create(context, { name });
    }
    const all = await keys.list(context, { limit: 50, offset: 0 });
    expect(all.map((key) => key.name)).toEqual(['c', 'b', 'a']);
    expect(await keys.list(context, { limit: 1, offset: 1 })).toEqual([all[1]]);
    expect(await keys.get(context, { id: all[1]!.id })).toEqual(all[1]);
    expect(await keys.list(context, { limit: 5, offset: 3 })).toEqual([]);
  });

  test('a list of hundreds can be searched by name and by the displayed parts of a key, and sorted', async () => {
    const keys = keysServiceAt(proxy.url);
    const accountId = await insertAccount(db);
    const context = contextOf(db, accountId, () => LAST_OF_MONTH);
    await db.pool.query(
      `insert into api_keys (id, account_id, name, key_prefix, last_four, key_hash, created_at)
       select gen_random_uuid(), $1::uuid, 'Key ' || to_char(n, 'FM0000'), 'sk-pr-ab', to_char(n, 'FM0000'),
         decode(md5($1::text || n), 'hex'), now() - n * interval '1 minute' from generate_series(1, 150) n`,
      [accountId],
    );
    await db.pool.query(
      `with spent as (insert into key_spend_days (key_id, day, spend, last_used_at)
         select id, '2026-11-30', 5, '2026-11-30T01:00:00Z' from api_keys where account_id = $1 and last_four = '0077')
       select`,
      [accountId],
    );
    const page = async (input: { search?: string; order_by?: string; after?: string; first?: number }) => {
      const found = await keys.page(context, keysConnectionInput.parse(input));
      return { ...found, names: found.edges.map(({ node }) => node.name) };
    };
    const first = await page({ order_by: 'name', first: 100 });
    expect([first.names[0], first.names.length, first.hasNextPage]).toEqual(['Key 0001', 100, true]);
    const second = await page({ order_by: 'name', first: 100, after: first.edges[99]!.cursor });
    expect([second.names[0], second.names.length, second.hasNextPage]).toEqual(['Key 0101', 50, false]);
    for (const order_by of ['spend', 'used']) expect((await page({ order_by })).names[0]).toBe('Key 0077');
    expect((await page({})).names[0]).toBe('Key 0001');
    expect((await page({ search: 'KEY 014' })).names).toHaveLength(10);
    expect((await page({ search: 'ab…0150' })).names).toEqual(['Key 0150']);
    expect(await keys.countFound(context, 'key 014')).toBe(10);
    expect((await page({ search: '%' })).names).toEqual([]);
  });

  test('spend is that of the current UTC day and month', async () => {
    const keys = keysServiceAt(proxy.url);
    const accountId = await insertAccount(db);
    let now = LAST_OF_MONTH;
    const context = contextOf(db, accountId, () => now);
    const { api_key } = await keys.create(context, { name: 'a' });
    await db.pool.query(
      `insert into key_spend_days (key_id, day, spend) values ($1, '2026-11-29', 7), ($1, '2026-11-30', 0.00000005), ($1, '2026-12-01', 3)`,
      [api_key.id],
    );
    expect(await keys.get(context, { id: api_key.id })).toMatchObject({
      spend_today_usd: '0.00000005',
      spend_month_usd: '7.00000005',
    });
    now += 1;
    expect(await keys.list(context, { limit: 1, offset: 0 })).toMatchObject([
      { spend_today_usd: '3.000000', spend_month_usd: '3.000000' },
    ]);
    now += 86_400_000;
    expect(await keys.get(context, { id: api_key.id })).toMatchObject({
      spend_today_usd: '0.000000',
      spend_month_usd: '3.000000',
    });
  });
});
