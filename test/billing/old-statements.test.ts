import { DAY_MS } from '../../src/lib/clock.js';
import { DOLLAR, formatDecimal, formatMoney, parseMoney } from '../../src/lib/money.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import { runAudit } from '../../src/services/audit/audit.service.js';
import { createBillingService } from '../../src/services/billing/billing.service.js';
import { createStatementService } from '../../src/services/billing/statement.service.js';
import { rollUpAt } from '../analytics/support.js';
import { jobContext } from '../jobs/support.js';
import { createPayer, type Payer, recordOf } from '../metering/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { contextOf } from './fixtures.js';

const NOW = Date.UTC(2026, 10, 5, 12, 30);
const MONTH = '2025-02';
const MONTH_END = Date.UTC(2025, 2, 1);

describe('the statement of a month long ago', () => {
  const statements = createStatementService({ config: { historyRetentionMonths: 26 } as never });
  const billing = createBillingService();
  let db: TestDatabase;
  let payer: Payer;
  beforeAll(async () => {
    db = await createTestDatabase();
    payer = await createPayer(db.pool, DOLLAR);
    await db.pool.query('alter table ledger_entries disable trigger all');
    await db.pool.query(`update ledger_entries set created_at = '2025-01-01Z'`);
    await db.pool.query('alter table ledger_entries enable trigger all');
    const at = (createdAt: number, changes = {}) => recordOf(payer, { createdAt, ...changes });
    await flushBatch(db.pool, [
      at(MONTH_END - 1, { cost: 7n }),
      at(MONTH_END, { cost: 11n }),
      at(Date.UTC(2025, 5, 7, 23, 59), { cost: 13n, keyId: null }),
      at(Date.UTC(2025, 5, 8), { cost: 17n, servedModel: 'gateway/qwen-pro' }),
      at(Date.UTC(2025, 5, 9), { status: 'error', errorCode: 'upstream_error', cost: 0n }),
      at(NOW - DAY_MS, { cost: 19n }),
      at(NOW, { cost: 23n }),
    ]);
    await rollUpAt(db, NOW);
  });
  afterAll(() => db.close());

  const context = () => contextOf(db, payer.accountId, () => NOW);
  /** What credits and charges say of everything before the end of the month. */
  const closing = async (): Promise<string> => {
    const { rows } = await db.pool.query<{ sum: string }>(
      `select (sum(amount) - (select coalesce(sum(cost), 0) from calls where account_id = $1 and created_at < $2))::text as sum
       from ledger_entries where account_id = $1 and created_at < $2 and kind <> 'usage'`,
      [payer.accountId, new Date(MONTH_END)],
    );
    return formatMoney(parseMoney(rows[0]!.sum));
  };
  const isRight = async () => {
    const { closing_balance_usd } = await statements.statement(context(), { month: MONTH });
    expect(closing_balance_usd).toBe(await closing());
    const { rows } = await db.pool.query<{ calls: number; cost: string }>(
      'select count(*)::float8 as calls, sum(cost)::text as cost from usage_events',
    );
    const [{ calls, cost }] = rows as [{ calls: number; cost: string }];
    expect(await billing.usageTotals(context(), {})).toEqual({ calls, cost_usd: formatDecimal(cost) });
  };

  test("closes with the ledger's balance, and totals are right, whatever is merged so far", async () => {
    expect(await closing()).toBe(formatMoney(DOLLAR - 7n));
    await isRight();
    // A day as a build has merged it that knew no cost of days.
    await db.pool.query(`update usage_latency_days set cost = null where day = '2025-06-08'`);
    await isRight();
    // An event that comes late, in an hour that was rolled up and in one that wasn't.
    await flushBatch(db.pool, [
      recordOf(payer, { createdAt: Date.UTC(2025, 5, 7, 23, 30), cost: 29n }),
      recordOf(payer, { createdAt: Date.UTC(2025, 5, 7, 11), cost: 31n }),
    ]);
    await isRight();
    await rollUpAt(db, NOW);
    await isRight();
  });

  test('days merged without their cost are merged again, a limited number per run', async () => {
    await db.pool.query('update usage_latency_days set cost = null');
    await db.pool.query(`
      insert into rollup_unsummed_days
      select generate_series(min(day), min(day) + 31, interval '1 day')::date from usage_latency_days`);
    const left = async () => (await db.pool.query('select from rollup_unsummed_days')).rowCount;
    await rollUpAt(db, NOW);
    expect(await left()).toBe(2);
    await rollUpAt(db, NOW);
    expect(await left()).toBe(0);
    const { rows } = await db.pool.query(
      `select day::text, cost::text from usage_latency_days where day < '2025-04-01' order by day`,
    );
    expect(rows).toEqual([
      { day: '2025-02-28', cost: '0.000000000007' },
      { day: '2025-03-01', cost: '0.000000000011' },
    ]);
    await isRight();
  });

  test('the audit finds a merged day whose cost is not that of its hours', async () => {
    const violated = async () =>
      (await runAudit(jobContext(db.orm).context))
        .filter(({ violations }) => violations > 0)
        .map(({ invariant }) => invariant.name);
    expect(await violated()).not.toContain('I10-latency-day');
    await db.pool.query(`update usage_latency_days set cost = cost + 1 where day = '2025-03-01'`);
    expect(await violated()).toContain('I10-latency-day');
    await db.pool.query(`update usage_latency_days set cost = cost - 1 where day = '2025-03-01'`);
  });

  // Last, since it takes the hours away.
  test('reads merged days of earlier times, not their hours, and so do totals', async () => {
    await db.pool.query('insert into rollup_dirty_days select distinct day from usage_latency_days');
    await rollUpAt(db, NOW);
    await db.pool.query(`delete from usage_rollups where hour >= '2025-03-01Z' and hour < '2026-11-01Z'`);
    await isRight();
  });
});
