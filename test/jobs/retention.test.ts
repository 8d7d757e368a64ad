import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { usageRetentionJob } from '../../src/jobs/retention.jobs.js';
import { newId } from '../../src/lib/ids.js';
import { DOLLAR } from '../../src/lib/money.js';
import { flushBatch, isDataFault } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { createAnalyticsService } from '../../src/services/analytics/analytics.service.js';
import { runAudit } from '../../src/services/audit/audit.service.js';
import { createBillingService } from '../../src/services/billing/billing.service.js';
import { postDueCharges } from '../../src/services/billing/charge-posting.js';
import { ensurePartitions, listPartitions } from '../../src/services/partitions/partitions.store.js';
import { rolledHours, rollUpAt } from '../analytics/support.js';
import { contextOf, ledgerOf } from '../billing/fixtures.js';
import { createPayer, flushWhenFree, type Payer, recordOf } from '../metering/support.js';
import { runCommand } from '../support/command.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { jobContext } from './support.js';

const MONTHS = { usage: 13, history: 26 };
/** The first moment in which September 2030 is older than thirteen months. */
const DUE = Date.UTC(2031, 10, 1);
const SEPTEMBER = 'calls_2030_09';

const billing = createBillingService();
const analytics = createAnalyticsService();

describe('the retention of usage', () => {
  let db: TestDatabase;
  let payer: Payer;
  let september: UsageRecord[];
  let october: UsageRecord[];

  const at = (createdAt: number, changes: Partial<UsageRecord> = {}) =>
    recordOf(payer, { createdAt, ...changes });

  beforeEach(async () => {
    db = await createTestDatabase();
    payer = await createPayer(db.pool, DOLLAR);
    await ensurePartitions(db.orm.em.fork(), Date.UTC(2030, 8, 15));
    const error = { status: 'error', errorCode: 'upstream_error', httpStatus: 502, cost: 0n } as const;
    september = [
      at(Date.UTC(2030, 8, 1)),
      at(Date.UTC(2030, 8, 15, 12), { servedModel: 'gateway/qwen-pro', latencyMs: 900 }),
      at(Date.UTC(2030, 8, 30, 23, 59, 59, 999), error),
    ];
    october = [at(Date.UTC(2030, 9, 1)), at(Date.UTC(2030, 9, 20, 7), { keyId: null })];
    await flushBatch(db.pool, [...september, ...october]);
  });
  afterEach(() => db.close());

  async function run(nowMs: number, months = MONTHS) {
    const { context, logged } = jobContext(db.orm, nowMs);
    const removed: Record<string, number> = {};
    await usageRetentionJob(months, (kind, rows) => {
      removed[kind] = (removed[kind] ?? 0) + rows;
    }).run(context, {});
    return { logged, removed };
  }
  const tables = async () => (await listPartitions(db.orm.em.fork())).map(({ table }) => table);
  const violated = async () => {
    const findings = await runAudit(jobContext(db.orm).context);
    expect(findings.length).toBeGreaterThan(15);
    return findings.filter(({ violations }) => violations > 0).map(({ invariant }) => invariant.name);
  };
  const viewer = (nowMs = DUE) => contextOf(db, payer.accountId, () => nowMs);
  const idsOf = (records: readonly { id: string }[]) => records.map(({ id }) => id).sort();

  test('drops a month once all of it is older, and logs it', async () => {
    await rollUpAt(db, DUE);
    expect(await run(DUE - 1)).toMatchObject({ logged: [], removed: { rollups: 0 } });
    expect(await tables()).toContain(SEPTEMBER);
    const { logged, removed } = await run(DUE);
    expect(logged).toMatchObject([{ msg: 'old usage removed', table: SEPTEMBER, events: 3 }]);
    expect(removed).toEqual({ usage_events: 3, rollups: 0, refused_calls: 0, widget_days: 0 });
    expect(await tables()).toEqual(['calls_2030_10', 'calls_2030_11']);
    expect(await run(DUE)).toMatchObject({ logged: [] });
  });

  test('keeps balance, ledger, invariants, spend and figures as they were', async () => {
    await rollUpAt(db, DUE);
    await postDueCharges(jobContext(db.orm).context);
    const seen = async () => ({
      balance: await billing.balance(viewer()),
      ledger: await ledgerOf(db, payer.accountId),
      listed: await billing.ledger(viewer(), { limit: 100, offset: 0 }),
      hours: await rolledHours(db.pool),
      spend: (await db.pool.query('select day, spend from key_spend_days order by day')).rows,
      figures: await analytics.ofAccount(viewer(Date.UTC(2030, 10, 1)), { window_days: 90 }),
    });
    const before = await seen();
    expect(before.figures).toMatchObject({ total_requests: 5, error_count: 1, p95_latency_ms: 900 });
    expect(await violated()).toEqual([]);
    await run(DUE);
    const after = await seen();
    // Read from each call before, and from sketches now.
    expect(after.figures.p95_latency_ms).toBeGreaterThanOrEqual(900 * 0.99);
    expect(after.figures.p95_latency_ms).toBeLessThanOrEqual(900 * 1.01);
    const latencies = { p50_latency_ms: 0, p95_latency_ms: 0 };
    expect({ ...after, figures: { ...after.figures, ...latencies } }).toEqual({
      ...before,
      figures: { ...before.figures, ...latencies },
    });
    expect(await violated()).toEqual([]);
  });

  test('npm run audit finds nothing, and still finds faults in what is kept', async () => {
    const data = mkdtempSync(join(tmpdir(), 'gateway-audit-'));
    const audit = () => runCommand('audit', [], { DATA_DIR: data, DATABASE_URL: db.url });
    await rollUpAt(db, DUE);
    await run(DUE);
    expect(await audit()).toMatchObject({ code: 0, output: expect.stringContaining(' 0 violated') });
    await db.pool.query('delete from calls where id = $1', [october[0]!.id]);
    const { code, output } = await audit();
    expect(code).toBe(1);
    expect(output).toMatch(/^ +1 {2}I10-rollup /m);
    rmSync(data, { recursive: true });
  });

  test('lists show the remaining events and their number', async () => {
    await rollUpAt(db, DUE);
    await run(DUE);
    const page = await billing.usage(viewer(), { limit: 100, offset: 0 });
    expect({ total: page.total, ids: idsOf(page.items) }).toEqual({ total: 2, ids: idsOf(october) });
    expect(await billing.usage(viewer(), { limit: 1, offset: 1 })).toMatchObject({
      items: [{ id: october[0]!.id }],
    });
    expect(await billing.usageCount(viewer())).toBe(2);
  });

  test('a call from before the kept usage is rejected, since nothing says whether it was charged before', async () => {
    await rollUpAt(db, DUE);
    await run(DUE);
    const balance = await billing.balance(viewer());
    const late = at(Date.UTC(2030, 8, 30, 23, 30));
    for (const one of [september[0]!, late]) {
      const error: unknown = await flushBatch(db.pool, [october[0]!, one]).catch((reason: unknown) => reason);
      // Then the flush writes each call by itself, and puts this one aside.
      expect(isDataFault(error)).toBe(true);
      expect(String(error)).toContain('2030-10-01');
    }
    expect(await flushBatch(db.pool, [october[0]!])).toMatchObject({ inserted: 0 });
    expect(await billing.balance(viewer())).toEqual(balance);
    expect(await billing.usageCount(viewer())).toBe(2);
    expect(await violated()).toEqual([]);
    expect(await run(DUE)).toMatchObject({ logged: [] });
  });

  test('events that are not rolled up yet stay, and all newer ones', async () => {
    const later = Date.UTC(2032, 0, 1);
    const { logged, removed } = await run(later);
    expect(logged).toMatchObject([
      {
        msg: 'old usage is kept until the next run',
        table: SEPTEMBER,
        reason: expect.stringContaining('rolled up'),
      },
    ]);
    expect(removed).toEqual({ rollups: 0, refused_calls: 0, widget_days: 0 });
    expect(await billing.usageCount(viewer())).toBe(5);
    await rollUpAt(db, later);
    expect(await run(later)).toMatchObject({ removed: { usage_events: 5 } });
    expect(await violated()).toEqual([]);
  });

  test("waits for readers of the month in attempts that don't delay a flush", async () => {
    await rollUpAt(db, DUE);
    const reader = await db.pool.connect();
    await reader.query('begin; select count(*) from usage_events');
    // A busy machine may need more than one run.
    const running = until(async () => {
      const result = await run(DUE);
      return result.removed.usage_events === undefined ? undefined : result;
    });
    await until(
      async () =>
        (
          await db.pool.query(
            `select from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
             where not granted and mode = 'AccessExclusiveLock' and relation = 'calls'::regclass`,
          )
        ).rowCount,
    );
    try {
      // A flush waits as long as one attempt; the edge then retries.
      expect(await flushWhenFree(db.pool, [at(DUE)])).toMatchObject({ inserted: 1 });
    } finally {
      await reader.query('commit');
      reader.release();
    }
    expect(await running).toMatchObject({ removed: { usage_events: 3 } });
    expect(await violated()).toEqual([]);
  });

  test('many processes at once drop a month once', async () => {
    await rollUpAt(db, DUE);
    const runs = await Promise.all(Array.from({ length: 4 }, () => run(DUE)));
    const dropped = runs.flatMap(({ removed }) => removed.usage_events ?? []);
    expect(dropped.reduce((sum, events) => sum + events, 0)).toBe(3);
    expect(await violated()).toEqual([]);
  });

  test('roll-ups are removed later, never before the events that they sum up', async () => {
    await rollUpAt(db, DUE);
    const much = Date.UTC(2040, 0, 1);
    await run(DUE, { usage: 13, history: 13 });
    expect((await rolledHours(db.pool)).map(({ hour }) => hour.slice(0, 7))).toEqual(['2030-10', '2030-10']);
    expect(await violated()).toEqual([]);
    await run(DUE, { usage: 1_200, history: 1 });
    expect(await rolledHours(db.pool)).toHaveLength(2);
    await run(much);
    expect(await rolledHours(db.pool)).toEqual([]);
    expect((await db.pool.query('select from usage_latency_days')).rowCount).toBe(0);
    expect(await violated()).toEqual([]);
    expect(await ledgerOf(db, payer.accountId)).toHaveLength(2);
  });

  test('counts of refused calls are removed with the roll-ups of their time, ids of calls after 30 days', async () => {
    const hours = [Date.UTC(2029, 7, 31, 23), Date.UTC(2029, 8, 1)];
    for (const hour of hours) {
      await db.pool.query(
        `insert into refused_call_hours values ($1, $2, $3, 'model_not_allowed', '', 3, $2, array[$3::uuid])`,
        [payer.accountId, new Date(hour), payer.keyId],
      );
    }
    const { removed } = await run(DUE);
    expect(removed.refused_calls).toBe(1);
    const { rows } = await db.pool.query<{ hour: Date; ids: string[] }>(
      'select hour, ids from refused_call_hours',
    );
    expect(rows.map(({ hour, ids }) => [hour.getTime(), ids])).toEqual([[hours[1], []]]);
  });

  test('days of widgets and of their sites are removed with the roll-ups of their time', async () => {
    const widget = newId();
    const days = ['2029-08-31', '2029-09-01'];
    for (const day of days) {
      await db.pool.query('insert into widget_days values ($1, $2, 1, 0, 10, 5, 0.1)', [widget, day]);
      await db.pool.query(`insert into widget_site_days values ($1, $2, $3, 'shop.example', 'answered', 1)`, [
        payer.accountId,
        widget,
        day,
      ]);
    }
    const { removed, logged } = await run(DUE);
    expect(removed.widget_days).toBe(2);
    expect(logged.at(-1)).toMatchObject({ msg: 'old days of widgets removed', days: 2 });
    const { rows } = await db.pool.query(
      'select day::text from widget_days union all select day::text from widget_site_days',
    );
    expect(rows).toEqual([{ day: days[1] }, { day: days[1] }]);
  });
});
