import { pgPool } from '../../src/db/connection.js';
import { newId } from '../../src/lib/ids.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { createAnalyticsService } from '../../src/services/analytics/analytics.service.js';
import { countByDayAndModel, latencySketch } from '../../src/services/analytics/analytics.store.js';
import { costSince } from '../../src/services/analytics/cost-since.store.js';
import { dirtyHoursOf } from '../../src/services/analytics/dirty-hours-of-account.js';
import { countVersions, versionSketches } from '../../src/services/prompts/version-hours.store.js';
import { contextOf } from '../billing/fixtures.js';
import { createPayer, type Payer, recordOf } from '../metering/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { checkInvariants } from '../support/invariants.js';
import { watchPool } from '../support/watched-pool.js';
import { DAY_MS, HOUR_MS, rolledHours, rollUpAt } from './support.js';

const HOUR = Date.UTC(2026, 11, 1, 10);
const MINUTE_MS = 60_000;
/** Enough to be rolled up. */
const MANY = 250;

describe('the open hour in slices', () => {
  let db: TestDatabase;
  let payer: Payer;
  let versionId: string;
  beforeEach(async () => {
    db = await createTestDatabase();
    payer = await createPayer(db.pool);
    versionId = await insertVersion(db, payer.accountId);
  });
  afterEach(() => db.close());

  /** Calls within milliseconds of a minute of the hour: half of them with a key and a prompt version. */
  const call = async (minute: number, calls: number, changes: Partial<UsageRecord> = {}): Promise<void> => {
    const records = Array.from({ length: calls }, (_, n) =>
      recordOf(payer, {
        createdAt: HOUR + minute * MINUTE_MS + n,
        latencyMs: 40 + (n % 7) + minute,
        ...(n % 2 === 0 ? { promptVersionId: versionId } : { keyId: null }),
        ...(n % 5 === 0 && { status: 'error', errorCode: 'upstream_error', cost: 0n, outputTokens: 0 }),
        ...changes,
      }),
    );
    await flushBatch(db.pool, records);
  };
  /** Minutes of the hour whose calls are read. */
  const readMinutes = async (): Promise<[number, number][]> => {
    const { periods } = await dirtyHoursOf(db.orm, payer.accountId);
    const minuteOf = (time: Date): number => (time.getTime() - HOUR) / MINUTE_MS;
    return periods.map(({ since, until }) => [minuteOf(since), minuteOf(until)]);
  };
  const figures = async (given?: Awaited<ReturnType<typeof dirtyHoursOf>>) => {
    const em = db.orm.em.fork();
    const { accountId, keyId } = payer;
    const dirty = given ?? (await dirtyHoursOf(db.orm, accountId));
    const day = HOUR - (HOUR % DAY_MS);
    const scope = { accountId, dirty, from: new Date(day), until: new Date(day + DAY_MS) };
    const versions = { ...scope, versionIds: [versionId] };
    const ordered = <T>(rows: T[]): T[] =>
      rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    return {
      ofAccount: ordered(await countByDayAndModel(em, scope)),
      ofKey: await countByDayAndModel(em, { ...scope, keyIds: [keyId] }),
      latencies: ordered(await latencySketch(em, scope)),
      latenciesOfKey: ordered(await latencySketch(em, { ...scope, keyIds: [keyId] })),
      cost: await costSince(em, scope),
      ofVersion: await countVersions(em, versions),
      latenciesOfVersion: ordered(await versionSketches(em, versions)),
    };
  };

  test('leaves the calls of the last minutes to be read, and changes no figure', async () => {
    for (const minute of [0, 4, 5, 12]) await call(minute, MANY);
    const before = await figures();
    expect(before.ofAccount).toMatchObject([{ requests: 4 * MANY, errors: (4 * MANY) / 5 }]);
    expect(await readMinutes()).toEqual([[0, 60]]);
    await rollUpAt(db, HOUR + 13 * MINUTE_MS);
    expect(await readMinutes()).toEqual([[10, 60]]);
    expect(await figures()).toEqual(before);
    await rollUpAt(db, HOUR + 16 * MINUTE_MS);
    expect(await readMinutes()).toEqual([[15, 60]]);
    expect(await figures()).toEqual(before);
    expect(await checkInvariants(db.pool)).toEqual([]);
  });

  test('waits ten seconds for the last flush of a slice', async () => {
    await call(0, MANY);
    await rollUpAt(db, HOUR + 5 * MINUTE_MS + 9_999);
    expect(await readMinutes()).toEqual([[0, 60]]);
    await rollUpAt(db, HOUR + 5 * MINUTE_MS + 10_000);
    expect(await readMinutes()).toEqual([[5, 60]]);
  });

  test('reads the calls of slices with few of them', async () => {
    await call(1, MANY);
    await call(6, 3);
    await call(11, MANY);
    await rollUpAt(db, HOUR + 16 * MINUTE_MS);
    expect(await readMinutes()).toEqual([
      [5, 10],
      [15, 60],
    ]);
    expect((await figures()).ofAccount).toMatchObject([{ requests: 2 * MANY + 3 }]);
  });

  test('counts a late call at once, and again once its slice was rolled up again', async () => {
    await call(1, MANY);
    await call(6, MANY);
    const now = HOUR + 11 * MINUTE_MS;
    await rollUpAt(db, now);
    await call(2, 1, { latencyMs: 9_000 });
    const late = await figures();
    expect(late.ofAccount).toMatchObject([{ requests: 2 * MANY + 1 }]);
    expect(await readMinutes()).toEqual([[0, 60]]);
    await rollUpAt(db, now + MINUTE_MS);
    expect(await readMinutes()).toEqual([[10, 60]]);
    expect(await figures()).toEqual(late);
  });

  test('gives way to the roll-up of the hour, also for a request that began before', async () => {
    for (const minute of [1, 6, 57]) await call(minute, MANY);
    await rollUpAt(db, HOUR + 59 * MINUTE_MS);
    const before = await figures();
    const dirty = await dirtyHoursOf(db.orm, payer.accountId);
    expect(dirty.slices).toHaveLength(2);
    await rollUpAt(db, HOUR + HOUR_MS);
    expect(await rolledHours(db.pool)).toEqual([{ hour: new Date(HOUR).toISOString(), requests: 3 * MANY }]);
    expect(await readMinutes()).toEqual([]);
    expect(await figures()).toEqual(before);
    expect(await figures(dirty)).toEqual(before);
    expect(await checkInvariants(db.pool)).toEqual([]);
    await rollUpAt(db, HOUR + 2 * HOUR_MS);
    expect((await db.pool.query('select from usage_slices')).rowCount).toBe(0);
  });

  test('is read from its calls after a crash of the database has emptied the table', async () => {
    await call(1, MANY);
    await rollUpAt(db, HOUR + 6 * MINUTE_MS);
    const before = await figures();
    await db.pool.query('truncate usage_slices, usage_sliced_hours');
    expect(await readMinutes()).toEqual([[0, 60]]);
    expect(await figures()).toEqual(before);
    await rollUpAt(db, HOUR + 7 * MINUTE_MS);
    expect(await readMinutes()).toEqual([[5, 60]]);
  });

  test('is looked up once by the queries of a request', async () => {
    await call(1, MANY);
    const read: string[] = [];
    watchPool(await pgPool(db.orm), (text, ask) => {
      if (text.includes('rollup_dirty)')) read.push(text);
      return ask();
    });
    const analytics = createAnalyticsService();
    const context = contextOf(db, payer.accountId, () => HOUR + 6 * MINUTE_MS);
    const [account, key, series] = await Promise.all([
      analytics.ofAccount(context, { window_days: 7 }),
      analytics.ofKey(context, { window_days: 7, id: payer.keyId }),
      analytics.series(context, { window_days: 7, unit: 'hour', time_zone: 'UTC' }),
    ]);
    expect([account.total_requests, key.total_requests]).toEqual([MANY, MANY / 2]);
    expect(series).toHaveLength(1);
    expect(read).toHaveLength(1);
  });
});

async function insertVersion({ pool }: TestDatabase, accountId: string): Promise<string> {
  const [promptId, versionId] = [newId(), newId()];
  await pool.query(
    `insert into prompts (id, account_id, slug, name, active_version, last_version, characters, created_at, updated_at)
     values ($1, $2, 'greeting', 'Greeting', 1, 1, 5, now(), now())`,
    [promptId, accountId],
  );
  await pool.query(
    `insert into prompt_versions (id, prompt_id, version, content, variables, created_at)
     values ($1, $2, 1, 'Hello', '[]', now())`,
    [versionId, promptId],
  );
  return versionId;
}
