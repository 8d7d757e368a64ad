import { newId } from '../../src/lib/ids.js';
import { createBillingService } from '../../src/services/billing/billing.service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { contextOf, insertAccount } from './fixtures.js';

describe('ledger listing', () => {
  let db: TestDatabase;
  const billing = createBillingService('mock');
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());

  test('is newest first, with decimals and times in wire format and the events of charges', async () => {
    const accountId = await insertAccount(db);
    const context = contextOf(db, accountId, () => Date.UTC(2026, 10, 21, 8, 55, 57, 123));
    await billing.topUp(context, { amount_usd: 10 });
    const eventId = newId();
    await db.pool.query(
      `insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, event_id, created_at)
       values ($1, $2, 2, 'usage', -0.00000005, 9.99999995, $1, '2026-11-21T08:56:00Z')`,
      [eventId, accountId],
    );
    await db.pool.query('update accounts set ledger_seq = 2, balance = 9.99999995 where id = $1', [
      accountId,
    ]);
    expect(await billing.ledger(context, { limit: 50, offset: 0 })).toEqual([
      {
        id: expect.any(String),
        kind: 'usage',
        amount_usd: '-0.00000005',
        balance_after_usd: '9.99999995',
        description: null,
        event_id: eventId,
        created_at: '2026-11-21T08:56:00.000000Z',
        calls: 1,
      },
      {
        id: expect.any(String),
        kind: 'topup',
        amount_usd: '10.000000',
        balance_after_usd: '10.000000',
        description: 'Top-up',
        event_id: null,
        created_at: '2026-11-21T08:55:57.123000Z',
        calls: null,
      },
    ]);
  });

  test('pages follow each other without a gap or a repetition, and are empty past the end', async () => {
    const accountId = await insertAccount(db);
    const context = contextOf(db, accountId);
    for (let i = 0; i < 7; i++) await billing.topUp(context, { amount_usd: 10 });
    const whole = await billing.ledger(context, { limit: 500, offset: 0 });
    const parts = [];
    for (let offset = 0; offset < 9; offset += 3) {
      parts.push(...(await billing.ledger(context, { limit: 3, offset })));
    }
    expect(whole.map((entry) => entry.balance_after_usd)).toEqual(
      [70, 60, 50, 40, 30, 20, 10].map((dollars) => `${dollars}.000000`),
    );
    expect(parts).toEqual(whole);
    expect(await billing.ledger(context, { limit: 3, offset: Number.MAX_SAFE_INTEGER })).toEqual([]);
  });

  test("doesn't show another account's entries", async () => {
    await billing.topUp(contextOf(db, await insertAccount(db)), { amount_usd: 10 });
    expect(await billing.ledger(contextOf(db, await insertAccount(db)), { limit: 50, offset: 0 })).toEqual(
      [],
    );
  });
});
