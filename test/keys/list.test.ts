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

  test('the list is newest first, paged, and one key reads as in the list', async () => {
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
