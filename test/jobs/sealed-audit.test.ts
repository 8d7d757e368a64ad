import { DOLLAR } from '../../src/lib/money.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import { auditAll, auditNew, continueRound, runHourlyAudit } from '../../src/services/audit/audit.service.js';
import type { Query } from '../../src/services/audit/invariant.js';
import { postDueCharges } from '../../src/services/billing/charge-posting.js';
import { postLedgerEntry } from '../../src/services/billing/ledger.store.js';
import { ensurePartitions } from '../../src/services/partitions/partitions.store.js';
import { removeOldUsage } from '../../src/services/retention/retention.service.js';
import { DAY_MS, HOUR_MS, rollUpAt } from '../analytics/support.js';
import { createPayer, flushWhenFree, type Payer, recordOf } from '../metering/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { jobContext } from './support.js';

const SMALL = { calls: 5, accounts: 2, charges: 6 };

describe('the sealed audit', () => {
  let db: TestDatabase;
  let payer: Payer;
  const query: Query = async (statement) => (await db.pool.query(statement)).rows;
  beforeEach(async () => {
    db = await createTestDatabase();
    payer = await createPayer(db.pool, DOLLAR);
  });
  afterEach(() => db.close());

  /** Charges calls of an hour, posts them to the ledger at its end, and rolls it up. */
  async function spend(at: number, calls = 3, by = payer): Promise<void> {
    await flushBatch(
      db.pool,
      Array.from({ length: calls }, () => recordOf(by, { createdAt: at })),
    );
    await postDueCharges(jobContext(db.orm).context);
    await unlocked(
      `update ledger_entries set created_at = to_timestamp(${(at + HOUR_MS) / 1_000}) where created_at > now() - interval '1 minute'`,
    );
    await rollUpAt(db, Date.now() + HOUR_MS);
  }
  const unlocked = (statement: string) =>
    db.pool.query(
      `alter table ledger_entries disable trigger all; ${statement}; alter table ledger_entries enable trigger all`,
    );
  /** The history of some days, oldest first. */
  const spendDays = async (days: number, before = 0, by = payer) => {
    for (let day = days; day > 0; day--) await spend(Date.now() - (before + day) * DAY_MS, 3, by);
  };
  const hourly = async () =>
    (await runHourlyAudit(jobContext(db.orm).context))
      .filter(({ violations }) => violations > 0)
      .map(({ invariant }) => invariant.name)
      .sort();
  const names = ({ violated }: Awaited<ReturnType<typeof auditAll>>) =>
    violated.map(({ invariant }) => invariant.name).sort();
  const aWeekLater = () => db.pool.query(`update audit_rounds set began_at = began_at - interval '7 days'`);

  /** Rows that the statements of an audit read from tables with history, by indexes, as in large tables. */
  async function rowsRead(audit: (query: Query) => Promise<unknown>): Promise<number> {
    const client = await db.pool.connect();
    let read = 0;
    try {
      await client.query('set enable_seqscan = off');
      await audit(async (statement) => {
        if (!/^\s*(?:insert|delete|update)/.test(statement)) {
          const { rows } = await client.query(`explain (analyze, format json) ${statement}`);
          read += scanned(rows[0]['QUERY PLAN'][0].Plan);
        }
        return query(statement);
      });
      await client.query('reset enable_seqscan');
    } finally {
      client.release();
    }
    return read;
  }

  test('reads what was written since the last one, however long the history is', async () => {
    const read: number[] = [];
    for (const [days, before] of [
      [3, 16],
      [12, 3],
    ] as const) {
      await spendDays(days, before);
      await auditNew(query);
      await spend(Date.now() - (before - 1) * DAY_MS);
      read.push(await rowsRead(auditNew));
    }
    expect(read[0]).toBeGreaterThan(9);
    expect(read[1]).toBe(read[0]);
  });

  test('finds a change of sealed rows with the weekly audit of everything, and reports it until it is undone', async () => {
    await spendDays(4);
    expect(await hourly()).toEqual([]);
    const { rows } = await db.pool.query<{ id: string }>('select id from calls order by seq limit 1');
    const change = (by: string) =>
      db.pool.query('update calls set cost = cost + $2, input_tokens = input_tokens + 1 where id = $1', [
        rows[0]!.id,
        by,
      ]);
    await change('0.0000001');
    expect(await hourly()).toEqual([]);
    await aWeekLater();
    const broken = ['I10-model', 'I10-rollup', 'I2', 'I6-calls'];
    expect(await hourly()).toEqual(broken);
    expect(await hourly()).toEqual(broken);
    await db.pool.query(
      'update calls set cost = cost - 0.0000001, input_tokens = input_tokens - 1 where id = $1',
      [rows[0]!.id],
    );
    expect(await hourly()).toEqual([]);
  });

  test('goes on with the audit of everything where it was stopped', async () => {
    await spendDays(4);
    const steps: string[] = [];
    let killAt = Number.POSITIVE_INFINITY;
    const watched: Query = async (statement) => {
      if (steps.length >= killAt) throw new Error('killed');
      steps.push(statement);
      return query(statement);
    };
    const whole = async () => {
      steps.length = 0;
      return continueRound(watched, { size: SMALL });
    };
    expect(await whole()).toBe('ended');
    const inOneGo = [...steps];
    expect(await whole()).toBe(undefined);
    await aWeekLater();
    killAt = Math.floor(inOneGo.length / 2);
    await expect(whole()).rejects.toThrow('killed');
    killAt = Number.POSITIVE_INFINITY;
    expect(await whole()).toBe('ended');
    expect(steps.length).toBeLessThan(inOneGo.length * 0.8);
    expect(steps.at(-1)).toBe(inOneGo.at(-1));
  });

  test('proves a large account part by part, and finds a charge that is far from its ledger entry', async () => {
    await spendDays(8);
    const other = await createPayer(db.pool, DOLLAR);
    await spendDays(2, 0, other);
    expect(names(await auditAll(query, SMALL))).toEqual([]);
    expect(names(await auditNew(query, SMALL))).toEqual([]);
    // One look for each account with a ledger.
    expect(await rowsRead(auditNew)).toBe(2);
    await db.pool.query(`
      insert into calls select (jsonb_populate_record(null::calls,
        to_jsonb(c) || jsonb_build_object('id', gen_random_uuid(), 'created_at', c.created_at + interval '5 days'))).*
      from calls c where account_id = '${payer.accountId}' and seq = 3`);
    expect(names(await auditAll(query, SMALL))).toContain('I2');
    expect(names(await auditAll(query))).toContain('I2');
  });

  test('accepts calls that were written long after they ended', async () => {
    await spendDays(4);
    expect(await hourly()).toEqual([]);
    await flushBatch(db.pool, [recordOf(payer, { createdAt: Date.now() - 10 * DAY_MS }), recordOf(payer)]);
    expect(await hourly()).toEqual([]);
    await postDueCharges(jobContext(db.orm).context);
    expect(await hourly()).toEqual([]);
    expect(names(await auditAll(query, SMALL))).toEqual([]);
  });

  test('reports nothing that calls, credits, posting, roll-ups and retention cause meanwhile', async () => {
    const payers = [payer, ...(await Promise.all([1, 2, 3].map(() => createPayer(db.pool, DOLLAR))))];
    const month = (nth: number) => Date.UTC(2026, nth, 15, 12);
    for (let nth = 0; nth < 5; nth++) {
      await ensurePartitions(db.orm.em.fork(), month(nth));
      for (const one of payers) await spend(month(nth), 4, one);
    }
    let [isOver, flushes] = [false, 0];
    const repeat = async (work: () => Promise<unknown>) => {
      while (!isOver) await work();
    };
    const { context } = jobContext(db.orm);
    const dropped: string[] = [];
    const work = Promise.all([
      repeat(async () => {
        const ofCall = () =>
          recordOf(payers[++flushes % payers.length]!, { createdAt: Date.now() - (flushes % 90) * 60_000 });
        await flushWhenFree(db.pool, Array.from({ length: 10 }, ofCall));
      }),
      repeat(() =>
        db.orm.em.fork().transactional((em) =>
          postLedgerEntry(em, {
            accountId: payers[flushes % payers.length]!.accountId,
            kind: 'topup',
            amount: DOLLAR,
            now: Date.now(),
          }),
        ),
      ),
      repeat(() => postDueCharges(context)),
      repeat(() => rollUpAt(db, Date.now() + HOUR_MS)),
      repeat(async () => {
        const due = jobContext(db.orm, Date.UTC(2027, dropped.length + 2, 1)).context;
        for (const { table } of await removeOldUsage(due, { months: 13 })) if (table) dropped.push(table);
        isOver = dropped.length >= 4;
      }),
    ]);
    const found: string[] = [];
    const size = { calls: 50, accounts: 2, charges: 100 };
    while (!isOver) found.push(...names(await auditAll(query, size)), ...names(await auditNew(query, size)));
    await work;
    found.push(...names(await auditAll(query, size)), ...names(await auditNew(query, size)));
    expect(found).toEqual([]);
    expect(dropped.length).toBeGreaterThanOrEqual(4);
  }, 120_000);
});

const HISTORY =
  /^(?:calls|ledger_entries|account_usage_hours|key_spend_days|model_hours|usage_latency_days|usage_rollups)/;

interface Plan {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

function scanned({ Plans: below = [], ...plan }: Plan): number {
  const table = plan['Relation Name'] ?? '';
  const own = HISTORY.test(table)
    ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
    : 0;
  return below.reduce((sum, one) => sum + scanned(one), own);
}
