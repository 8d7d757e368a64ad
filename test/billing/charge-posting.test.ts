import { postChargesJob } from '../../src/jobs/billing.jobs.js';
import { DOLLAR, formatMoney } from '../../src/lib/money.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import { createBillingService } from '../../src/services/billing/billing.service.js';
import { postLedgerEntry } from '../../src/services/billing/ledger.store.js';
import { jobContext } from '../jobs/support.js';
import { costing, createPayer, type Payer, recordOf } from '../metering/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import fc from '../support/fast-check.js';
import { checkInvariants } from '../support/invariants.js';
import { contextOf, ledgerOf } from './fixtures.js';

describe('charges in the ledger', () => {
  let db: TestDatabase;
  const billing = createBillingService();
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());

  const charge = (payer: Payer, calls: number) =>
    flushBatch(
      db.pool,
      Array.from({ length: calls }, () => recordOf(payer, costing(1_000n))),
    );
  const credit = (payer: Payer) =>
    db.orm.em
      .fork()
      .transactional((em) =>
        postLedgerEntry(em, { accountId: payer.accountId, kind: 'adjustment', amount: 5n, now: Date.now() }),
      );
  const post = async (): Promise<number> => {
    const { context, logged } = jobContext(db.orm);
    await postChargesJob.run(context, {});
    return Number(logged[0]?.entries ?? 0);
  };
  const list = (payer: Payer, offset = 0) =>
    billing.ledger(contextOf(db, payer.accountId), { limit: 50, offset });

  test('are written before the next credit, as one entry with their sum', async () => {
    const payer = await createPayer(db.pool, DOLLAR);
    await charge(payer, 3);
    await charge(payer, 2);
    await credit(payer);
    expect(await ledgerOf(db, payer.accountId)).toMatchObject([
      { seq: '1', kind: 'starter' },
      { seq: '6', kind: 'usage', amount: '-0.000000005', balance_after: '0.999999995' },
      { seq: '7', kind: 'adjustment', balance_after: '0.999999995005' },
    ]);
    expect(await checkInvariants(db.pool)).toEqual([]);
  });

  test('are written by the job once, except those of a locked account, which it leaves to the next run', async () => {
    await post();
    const [payer, locked] = [await createPayer(db.pool, DOLLAR), await createPayer(db.pool, DOLLAR)];
    await charge(payer, 4);
    await charge(locked, 1);
    const session = await db.pool.connect();
    try {
      await session.query('begin');
      await session.query('select from accounts where id = $1 for update', [locked.accountId]);
      expect(await post()).toBe(1);
      await session.query('rollback');
    } finally {
      session.release();
    }
    expect([await post(), await post()]).toEqual([1, 0]);
    expect(await ledgerOf(db, payer.accountId)).toHaveLength(2);
    expect(await checkInvariants(db.pool)).toEqual([]);
  });

  test('are listed as an entry that grows, and as the same entry once it is written', async () => {
    const payer = await createPayer(db.pool, DOLLAR);
    await charge(payer, 1);
    const [first] = await list(payer);
    expect(first).toMatchObject({ kind: 'usage', calls: 1, amount_usd: '-0.000000001', event_id: null });
    await charge(payer, 2);
    const [grown, starter] = await list(payer);
    expect(grown).toMatchObject({ id: first!.id, calls: 3, balance_after_usd: '0.999999997' });
    await post();
    expect(await list(payer)).toEqual([{ ...grown, created_at: expect.any(String) }, starter]);
    expect(await list(payer, 1)).toEqual([starter]);
    expect(await list(payer, 2)).toEqual([]);
    await charge(payer, 1);
    expect((await list(payer)).map(({ kind, calls }) => [kind, calls])).toEqual([
      ['usage', 1],
      ['usage', 3],
      ['starter', null],
    ]);
  });

  test('add up to the balance after any sequence of charges, credits and postings', async () => {
    const step = fc.oneof(
      fc.record({ calls: fc.integer({ min: 1, max: 5 }) }),
      fc.constantFrom('credit' as const, 'post' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const payer = await createPayer(db.pool, DOLLAR);
        let [balance, calls] = [DOLLAR, 0];
        for (const one of steps) {
          if (one === 'post') await post();
          else if (one === 'credit') {
            await credit(payer);
            balance += 5n;
          } else {
            await charge(payer, one.calls);
            balance -= 1_000n * BigInt(one.calls);
            calls += one.calls;
          }
        }
        const entries = await list(payer);
        expect(entries[0]!.balance_after_usd).toBe(formatMoney(balance));
        expect(entries.reduce((sum, entry) => sum + (entry.calls ?? 0), 0)).toBe(calls);
      }),
      { numRuns: 15 },
    );
    expect(await checkInvariants(db.pool)).toEqual([]);
  });
});
