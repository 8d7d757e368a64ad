import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { flushBatch } from '../../src/metering/flush.store.js';
import { createAnalyticsService } from '../../src/services/analytics/analytics.service.js';
import { countByDayAndModel, latencySketch } from '../../src/services/analytics/analytics.store.js';
import { dirtyHoursOf } from '../../src/services/analytics/dirty-hours-of-account.js';
import { createWhatIfService } from '../../src/services/analytics/what-if.service.js';
import { createVersionStatsService } from '../../src/services/prompts/version-stats.service.js';
import { contextOf } from '../billing/fixtures.js';
import { createPayer, type Payer, recordOf } from '../metering/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { makeUsageInsertable } from '../support/insertable-usage.js';
import { DAY_MS, rollUpAt } from './support.js';

const NOW = Date.UTC(2026, 10, 21, 12);
const WINDOW_DAYS = 90;
const HOURS = 200;

describe('analytics of 90 days', () => {
  let db: TestDatabase;
  let payer: Payer;
  const analytics = createAnalyticsService();
  const prompt = { id: randomUUID(), versionId: randomUUID() };
  beforeAll(async () => {
    db = await createTestDatabase();
    await makeUsageInsertable(db.pool);
    payer = await createPayer(db.pool);
    await db.pool.query(
      `with made as (
         insert into prompts (id, account_id, slug, name, active_version, last_version, characters, created_at, updated_at)
         values ($1, $3, 'p', 'P', 1, 1, 1, now(), now()))
       insert into prompt_versions (id, prompt_id, version, content, variables, created_at)
       values ($2, $1, 1, 'x', '[]', now())`,
      [prompt.id, prompt.versionId, payer.accountId],
    );
  });
  afterAll(() => db.close());

  /** Calls of many latencies with one version of a prompt, spread evenly over hours of the window. */
  const insertEvents = (count: number) =>
    db.pool.query(
      `with inserted as (
         insert into usage_events (id, created_at, account_id, key_id, requested_model, served_model, endpoint, stream,
           input_tokens, output_tokens, price_in, price_out, cost, latency_ms, status, http_status, prompt_version_id)
         select gen_random_uuid(), to_timestamp($4::float8 / 1000) - make_interval(hours => 10 * (n % $5)), $1, $2, 'gateway/fast', 'gateway/fast',
           'chat', false, 1, 1, 1, 1, 0.000002, 100 + (n::bigint * 7919) % 90000, 'success', 200, $6
         from generate_series(1, $3::int) n returning created_at)
       insert into rollup_dirty select distinct date_trunc('hour', created_at, 'UTC') from inserted`,
      [payer.accountId, payer.keyId, count, NOW - DAY_MS, HOURS, prompt.versionId],
    );

  const exact = async (): Promise<number[]> => {
    const { rows } = await db.pool.query<{ p: number[] }>(
      `select percentile_disc(array[0.5, 0.95]) within group (order by latency_ms) as p from usage_events`,
    );
    return rows[0]!.p;
  };
  const context = () => contextOf(db, payer.accountId, () => NOW);
  const analyse = () => analytics.ofKey(context(), { id: payer.keyId, window_days: WINDOW_DAYS });
  const ofVersion = () =>
    createVersionStatsService().ofVersion(context(), {
      id: prompt.id,
      vid: prompt.versionId,
      window_days: WINDOW_DAYS,
    });
  const whatIf = () =>
    createWhatIfService().estimate(context(), {
      model: 'gateway/fast',
      window_days: WINDOW_DAYS,
      prompt_version_id: prompt.versionId,
    });

  test('are exact percentiles below 2,000 calls; from there on they are within 1 %, and no event is read', async () => {
    await insertEvents(1_999);
    await rollUpAt(db, NOW);
    const before = await analyse();
    expect(before.total_requests).toBe(1_999);
    expect([before.p50_latency_ms, before.p95_latency_ms]).toEqual(await exact());
    const version = await ofVersion();
    expect([version.p50_latency_ms, version.p95_latency_ms]).toEqual(await exact());

    await insertEvents(1);
    await rollUpAt(db, NOW);
    const truth = await exact();
    // What can't be read isn't.
    await db.pool.query('truncate calls');
    const after = await analyse();
    expect(after.total_requests).toBe(2_000);
    expect(after.daily_breakdown).toHaveLength(WINDOW_DAYS);
    const reported = [after.p50_latency_ms, after.p95_latency_ms];
    for (const [index, value] of truth.entries()) {
      expect(Math.abs(reported[index]! - value)).toBeLessThanOrEqual(value / 100);
    }
    expect(reported).not.toEqual(truth);
    expect(await ofVersion()).toMatchObject({
      ...{ requests: 2_000, errors: 0, input_tokens: 2_000, output_tokens: 2_000, cost_usd: '0.004000' },
      ...{ p50_latency_ms: after.p50_latency_ms, p95_latency_ms: after.p95_latency_ms },
    });
    expect(await whatIf()).toMatchObject({ requests: 2_000, actual_cost_usd: '0.004000' });
  });

  test('read no event of a small key either if its account has more than 10,000 calls', async () => {
    const own = await createPayer(db.pool);
    const latencies = [1_000, 2_003, 3_007];
    const records = latencies.map((latencyMs) => recordOf(own, { createdAt: NOW - DAY_MS, latencyMs }));
    await flushBatch(db.pool, records);
    await rollUpAt(db, NOW);
    const read = () =>
      analytics.ofKey(
        contextOf(db, own.accountId, () => NOW),
        { id: own.keyId, window_days: WINDOW_DAYS },
      );
    expect(await read()).toMatchObject({ p50_latency_ms: 2_003, p95_latency_ms: 3_007 });
    await db.pool.query('update account_usage_hours set events = 10001 where account_id = $1', [
      own.accountId,
    ]);
    await db.pool.query('truncate calls');
    const { p50_latency_ms: p50, p95_latency_ms: p95 } = await read();
    expect(Math.abs(p50 - 2_003)).toBeLessThanOrEqual(20);
    expect(Math.abs(p95 - 3_007)).toBeLessThanOrEqual(30);
  });

  test('the roll-ups of the window are read once for the counts and once for the latencies', async () => {
    await insertEvents(2_000);
    await rollUpAt(db, NOW);
    await db.pool.query('analyze usage_rollups');
    const scope = {
      accountId: payer.accountId,
      keyIds: [payer.keyId],
      from: new Date(NOW - 90 * DAY_MS),
      until: new Date(NOW),
      dirty: await dirtyHoursOf(db.orm, payer.accountId),
    };
    const read = await db.orm.em.fork().transactional(async (em) => {
      const before = await rowsRead(em);
      await countByDayAndModel(em, scope);
      await latencySketch(em, scope);
      return (await rowsRead(em)) - before;
    });
    expect(read).toBeGreaterThanOrEqual(HOURS);
    expect(read).toBeLessThan(3 * HOURS);
  });
});

async function rowsRead(em: EntityManager): Promise<number> {
  const rows = await em.execute<{ n: string }[]>(
    `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::text as n from pg_stat_xact_user_tables
     where relname like 'usage%'`,
  );
  return Number(rows[0]!.n);
}
