import { createUsersService } from '../../src/services/accounts/users.service.js';
import { contextOf, insertAccount, ledgerOf } from '../billing/fixtures.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

/** A GraphQL document with two mutations has one EntityManager for both. */
describe('an account that one request changes twice', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());

  test('is read again the second time, and only the changes are written', async () => {
    const id = await insertAccount(db);
    const admin = await insertAccount(db);
    await db.pool.query(`update accounts set role = 'admin' where id = $1`, [admin]);
    const context = contextOf(db, admin);
    context.viewer!.role = 'admin';
    const users = createUsersService();
    expect(await users.updateUser(context, id, { plan: 'starter' })).toMatchObject({
      plan_id: 'starter',
      balance_usd: '12.000000',
    });
    await db.pool.query(`update accounts set name = 'Grace', token_version = 7 where id = $1`, [id]);
    expect(await users.updateUser(context, id, { status: 'disabled' })).toMatchObject({
      plan_id: 'starter',
      status: 'disabled',
      name: 'Grace',
      balance_usd: '12.000000',
    });
    const { rows } = await db.pool.query(
      'select name, status, plan_id, token_version, trim_scale(balance)::text as balance from accounts where id = $1',
      [id],
    );
    expect(rows).toEqual([
      { name: 'Grace', status: 'disabled', plan_id: 'starter', token_version: 8, balance: '12' },
    ]);
    expect(await ledgerOf(db, id)).toHaveLength(1);
  });
});
