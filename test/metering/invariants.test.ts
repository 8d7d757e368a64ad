import { DOLLAR } from '../../src/lib/money.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import { createTestDatabase } from '../support/database.js';
import { checkInvariants } from '../support/invariants.js';
import { createPayer, recordOf } from './support.js';

describe('the check of the invariants', () => {
  // A checker that was never seen to fail proves nothing: each corruption is planted and must be found.
  test.each([
    [
      'I1 one event',
      `alter table usage_events drop constraint usage_events_pkey;
       insert into usage_events select * from usage_events limit 1`,
    ],
    ['I2', 'update usage_events set cost = cost + 0.000000000001'],
    ['I2', 'delete from usage_events'],
    ['I3', 'update usage_events set input_tokens = input_tokens + 1'],
    ['I4', 'update accounts set balance = balance - 0.000000000001'],
    ['I6 the running', 'update ledger_entries set balance_after = balance_after + 1 where seq = 2'],
    ['I6 the running', 'update ledger_entries set seq = 9 where seq = 3'],
    ['I6 the account', 'update accounts set ledger_seq = ledger_seq + 1'],
    ['I7', 'update ledger_entries set balance_after = -1'],
    ['I8', `update usage_events set status = 'error'`],
    ['I10 spend of a key per day', 'update key_spend_days set spend = spend * 2'],
    ['I10 spend of a key per month', 'delete from key_spend_months'],
    ['I10 events per account', 'update account_usage_hours set events = events + 1'],
  ])('finds %s broken by: %s', async (name, corruption) => {
    const db = await createTestDatabase();
    try {
      const payer = await createPayer(db.pool, DOLLAR);
      await flushBatch(db.pool, [recordOf(payer), recordOf(payer)]);
      expect(await checkInvariants(db.pool)).toEqual([]);
      await db.pool.query('alter table ledger_entries disable trigger user');
      await db.pool.query(corruption);
      expect((await checkInvariants(db.pool)).join('\n')).toContain(name);
    } finally {
      await db.close();
    }
  });
});
