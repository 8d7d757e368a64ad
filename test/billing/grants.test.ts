import { createBillingService } from '../../src/services/billing/billing.service.js';
import { grantIncludedCredits } from '../../src/services/billing/grants.store.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { brokenLedgers, contextOf, insertAccount, ledgerOf } from './fixtures.js';

const NOVEMBER = Date.UTC(2026, 10, 30, 23, 59, 59, 999);
const DECEMBER = NOVEMBER + 1;

describe('included credits', () => {
  let db: TestDatabase;
  const billing = createBillingService('mock');
  beforeEach(async () => {
    db = await createTestDatabase();
  });
  afterEach(() => db.close());

  const grant = (accountId: string, planId: string, now: number) =>
    db.orm.em.fork().transactional((em) => grantIncludedCredits(em, { accountId, planId, now }));
  const monthly = (now: number) => billing.grantMonthlyCredits(contextOf(db, null, () => now));

  test.each([
    ['starter', '12'],
    ['pro', '25'],
    ['developer', '65'],
    ['team', '275'],
  ])('plan %s grants $%s', async (plan, credits) => {
    const accountId = await insertAccount(db, { plan });
    expect(await grant(accountId, plan, NOVEMBER)).toBe(true);
    expect(await ledgerOf(db, accountId)).toEqual([
      {
        seq: '1',
        kind: 'grant',
        amount: credits,
        balance_after: credits,
        idempotency_key: `grant:${accountId}:${plan}:2026-11`,
      },
    ]);
  });

  test('plan free grants nothing, nor do unknown plans', async () => {
    const accountId = await insertAccount(db);
    expect(await grant(accountId, 'free', NOVEMBER)).toBe(false);
    expect(await grant(accountId, 'gold', NOVEMBER)).toBe(false);
    expect(await ledgerOf(db, accountId)).toEqual([]);
  });

  test('are granted once per account, plan and month, by whatever path', async () => {
    const accountId = await insertAccount(db, { plan: 'pro' });
    await Promise.all([
      ...Array.from({ length: 5 }, () => grant(accountId, 'pro', NOVEMBER)),
      ...Array.from({ length: 5 }, () => monthly(NOVEMBER)),
    ]);
    expect(await monthly(NOVEMBER)).toEqual({ examined: 0, granted: 0, locked: 0 });
    expect(await grant(accountId, 'starter', NOVEMBER)).toBe(true);
    expect(await monthly(DECEMBER)).toEqual({ examined: 1, granted: 1, locked: 0 });
    expect((await ledgerOf(db, accountId)).map((entry) => [entry.amount, entry.idempotency_key])).toEqual([
      ['25', `grant:${accountId}:pro:2026-11`],
      ['12', `grant:${accountId}:starter:2026-11`],
      ['25', `grant:${accountId}:pro:2026-12`],
    ]);
    expect(await brokenLedgers(db)).toEqual([]);
  });

  test('the job skips accounts that somebody else has locked, and grants them the next time', async () => {
    const [locked, other] = [
      await insertAccount(db, { plan: 'pro' }),
      await insertAccount(db, { plan: 'pro' }),
    ];
    const lock = await db.pool.connect();
    await lock.query('begin');
    await lock.query('select 1 from accounts where id = $1 for update', [locked]);
    expect(await monthly(NOVEMBER)).toEqual({ examined: 2, granted: 1, locked: 1 });
    expect(await ledgerOf(db, other)).toHaveLength(1);
    await lock.query('commit');
    lock.release();
    expect(await monthly(NOVEMBER)).toEqual({ examined: 1, granted: 1, locked: 0 });
    expect(await ledgerOf(db, locked)).toHaveLength(1);
  });

  test('the job passes over free, disabled and deleted accounts', async () => {
    await insertAccount(db, { plan: 'free' });
    await insertAccount(db, { plan: 'pro', status: 'disabled' });
    const gone = await insertAccount(db, { plan: 'pro' });
    await db.pool.query('update accounts set deleted_at = now() where id = $1', [gone]);
    expect(await monthly(NOVEMBER)).toEqual({ examined: 0, granted: 0, locked: 0 });
    expect((await db.pool.query('select 1 from ledger_entries')).rows).toEqual([]);
  });

  test('reach everyone once with more accounts than one batch and four jobs at once', async () => {
    await db.pool.query(`
      insert into accounts (id, name, plan_id, created_at)
      select gen_random_uuid(), 'Ada', 'starter', now() from generate_series(1, 450)`);
    const counts = await Promise.all([NOVEMBER, NOVEMBER, NOVEMBER, NOVEMBER].map(monthly));
    expect(counts.reduce((sum, count) => sum + count.granted, 0)).toBe(450);
    const balances = await db.pool.query(
      'select trim_scale(balance)::text as balance, ledger_seq::int as seq, count(*)::int as n from accounts group by 1, 2',
    );
    expect(balances.rows).toEqual([{ balance: '12', seq: 1, n: 450 }]);
    expect(await brokenLedgers(db)).toEqual([]);
  });

  test('the job and top-ups of the same accounts at once lose nothing', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => insertAccount(db, { plan: 'pro' })));
    await Promise.all([
      monthly(NOVEMBER),
      ...ids.flatMap((id) => [1, 2, 3].map(() => billing.topUp(contextOf(db, id), { amount_usd: 10 }))),
      monthly(NOVEMBER),
    ]);
    // The next run grants what a busy machine kept locked for long.
    await monthly(NOVEMBER);
    const balances = await db.pool.query(
      'select distinct trim_scale(balance)::text as balance from accounts',
    );
    expect(balances.rows).toEqual([{ balance: '55' }]);
    expect(await brokenLedgers(db)).toEqual([]);
  });
});
