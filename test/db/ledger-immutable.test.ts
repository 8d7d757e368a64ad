import { newId } from '../../src/lib/ids.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

describe('the ledger', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
    const account = newId();
    await db.pool.query(`insert into accounts (id, name, created_at) values ($1, 'a', now())`, [account]);
    await db.pool.query(
      `insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, created_at)
       values ($1, $2, 1, 'starter', 1, 1, now())`,
      [newId(), account],
    );
  });
  afterAll(() => db.close());

  test.each([
    'update ledger_entries set amount = 2',
    'delete from ledger_entries',
    'truncate ledger_entries',
    'truncate accounts cascade',
  ])('refuses: %s', async (statement) => {
    await expect(db.pool.query(statement)).rejects.toThrow('is immutable');
    const rows = await db.pool.query('select amount::text from ledger_entries');
    expect(rows.rows).toEqual([{ amount: '1.000000000000' }]);
  });

  test("an account with ledger entries can't be deleted", async () => {
    await expect(db.pool.query('delete from accounts')).rejects.toMatchObject({ code: '23001' });
    const lone = newId();
    await db.pool.query(`insert into accounts (id, name, created_at) values ($1, 'b', now())`, [lone]);
    expect((await db.pool.query('delete from accounts where id = $1', [lone])).rowCount).toBe(1);
  });

  test('a charge must have the id of its event', async () => {
    await expect(
      db.pool.query(
        `insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, event_id, created_at)
         select $1, id, 2, 'usage', -1, 0, $2, now() from accounts limit 1`,
        [newId(), newId()],
      ),
    ).rejects.toMatchObject({ constraint: 'ledger_entries_charge_id' });
  });
});
