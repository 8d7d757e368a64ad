import type { Pool, PoolClient } from 'pg';
import { partitionsJob } from '../../src/jobs/usage.jobs.js';
import { newId } from '../../src/lib/ids.js';
import { createLogger } from '../../src/lib/logger.js';
import { ensurePartitions } from '../../src/services/partitions/partitions.store.js';
import { NotNow } from '../../src/services/partitions/usage-lock.store.js';
import { migrateAndSeed } from '../../src/services/startup.js';
import { createPayer, flushWhenFree, recordOf } from '../metering/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { makeUsageInsertable } from '../support/insertable-usage.js';
import { testConfig } from '../support/platform.js';
import { until } from '../support/until.js';
import { jobContext } from './support.js';

// Far from the real time, so that it doesn't matter which partitions the template has.
const NOW = Date.UTC(2031, 11, 31, 23, 59, 59, 999);

describe('partitions of the usage events', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
    await makeUsageInsertable(database.pool);
  });
  afterEach(() => database.close());

  const insert = async (pool: Pool, at: string): Promise<string> => {
    const id = newId();
    await pool.query(
      `insert into usage_events (id, created_at, account_id, requested_model, served_model, endpoint, stream,
         input_tokens, output_tokens, price_in, price_out, cost, latency_ms, status, http_status)
       values ($1, $2, $3, 'gateway/fast', 'gateway/fast', 'chat', false, 1, 1, 0.1, 0.3, 0.0000004, 1, 'success', 200)`,
      [id, at, newId()],
    );
    return id;
  };
  const tableOf = async (id: string): Promise<string> => {
    const { rows } = await database.pool.query(
      'select tableoid::regclass::text as t from calls where id = $1',
      [id],
    );
    expect(rows).toHaveLength(1);
    return rows[0].t;
  };

  test('partitions exist for this UTC month and the next two, across the year', async () => {
    expect(await ensurePartitions(database.orm.em.fork(), NOW)).toEqual([
      'calls_2031_12',
      'calls_2032_01',
      'calls_2032_02',
    ]);
    expect(await tableOf(await insert(database.pool, '2031-12-31T23:59:59.999Z'))).toBe('calls_2031_12');
    expect(await tableOf(await insert(database.pool, '2032-01-01T00:00:00.000Z'))).toBe('calls_2032_01');
    expect(await tableOf(await insert(database.pool, '2032-02-29T23:59:59.999Z'))).toBe('calls_2032_02');
    expect(await tableOf(await insert(database.pool, '2032-03-01T00:00:00.000Z'))).toBe('calls_default');
  });

  test('a new partition takes over its rows from the default partition, and only those', async () => {
    const late = await insert(database.pool, '2031-11-30T23:59:59.999Z');
    const first = await insert(database.pool, '2031-12-01T00:00:00.000Z');
    const next = await insert(database.pool, '2032-01-15T00:00:00.000Z');
    await ensurePartitions(database.orm.em.fork(), NOW);
    expect(await tableOf(late)).toBe('calls_default');
    expect(await tableOf(first)).toBe('calls_2031_12');
    expect(await tableOf(next)).toBe('calls_2032_01');
  });

  test('many processes at once add each partition once, while events are being written', async () => {
    const writers = Array.from({ length: 40 }, (_, i) =>
      insert(database.pool, new Date(NOW + (i - 20) * 86_400_000).toISOString()),
    );
    const added = await Promise.all(
      Array.from({ length: 4 }, () => ensurePartitions(database.orm.em.fork(), NOW)),
    );
    const ids = await Promise.all(writers);
    expect(added.flat().sort()).toEqual(['calls_2031_12', 'calls_2032_01', 'calls_2032_02']);
    const tables = await Promise.all(ids.map(tableOf));
    expect(tables).not.toContain('calls_default');
    expect(await ensurePartitions(database.orm.em.fork(), NOW)).toEqual([]);
  });

  describe("during a long read of all usage, like the audit's", () => {
    let reader: PoolClient;
    beforeEach(async () => {
      reader = await database.pool.connect();
      await reader.query('begin isolation level repeatable read; select count(*) from usage_events');
    });
    afterEach(async () => {
      await reader.query('commit');
      reader.release();
    });

    test("attempts to add partitions don't delay a flush", async () => {
      const payer = await createPayer(database.pool);
      // A busy machine may need more than one run.
      const adding = until(() =>
        ensurePartitions(database.orm.em.fork(), NOW).catch((error: unknown) => {
          if (!(error instanceof NotNow)) throw error;
          return undefined;
        }),
      );
      await until(
        async () =>
          (
            await database.pool.query(
              `select from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
               where not granted and mode = 'AccessExclusiveLock' and relation = 'calls_default'::regclass`,
            )
          ).rowCount,
      );
      expect(await flushWhenFree(database.pool, [recordOf(payer)])).toMatchObject({ inserted: 1 });
      await reader.query('commit');
      expect(await adding).toHaveLength(3);
    });

    test('adding is left to the next run, which is logged, and a start goes on', async () => {
      const warned: unknown[] = [];
      const log = createLogger('test', 'silent');
      log.warn = (...args: unknown[]) => void warned.push(args[1]);
      // A size of which there are no partitions yet.
      await migrateAndSeed(database.orm, testConfig(database.url, { USAGE_PARTITIONS: 'day' }), log);
      expect(warned).toEqual(['left new partitions to the next run']);
      await reader.query('commit');
      const { context, logged } = jobContext(database.orm, NOW);
      await partitionsJob('month').run(context, {});
      expect(logged).toMatchObject([{ msg: 'usage partitions added' }]);
    });
  });

  test("partitions are added in the caller's transaction", async () => {
    const undone = database.orm.em.fork().transactional(async (em) => {
      expect(await ensurePartitions(em, NOW)).toHaveLength(3);
      throw new Error('rolled back');
    });
    await expect(undone).rejects.toThrow('rolled back');
    expect(await ensurePartitions(database.orm.em.fork(), NOW)).toHaveLength(3);
  });

  test('daily partitions exist for this day and the next fourteen, after the existing months', async () => {
    await ensurePartitions(database.orm.em.fork(), Date.UTC(2031, 11, 1));
    await database.pool.query('drop table calls_2032_01, calls_2032_02');
    const late = await insert(database.pool, '2032-01-02T00:00:00.000Z');
    const added = await ensurePartitions(database.orm.em.fork(), Date.UTC(2031, 11, 20, 23), 'day');
    expect(added).toEqual(['calls_2032_01_01', 'calls_2032_01_02', 'calls_2032_01_03']);
    expect(await tableOf(late)).toBe('calls_2032_01_02');
    expect(await ensurePartitions(database.orm.em.fork(), Date.UTC(2031, 11, 20, 23), 'day')).toEqual([]);
    expect(await ensurePartitions(database.orm.em.fork(), Date.UTC(2031, 11, 21), 'day')).toEqual([
      'calls_2032_01_04',
    ]);
  });

  test('monthly partitions keep the existing days', async () => {
    const days = await ensurePartitions(database.orm.em.fork(), Date.UTC(2031, 11, 20), 'day');
    expect([days[0], days.at(-1), days.length]).toEqual(['calls_2031_12_20', 'calls_2032_01_03', 15]);
    const added = await ensurePartitions(database.orm.em.fork(), Date.UTC(2031, 11, 20));
    expect(added).toHaveLength(19 + 28 + 1);
    expect(added).toContain('calls_2031_12_19');
    expect(added).toContain('calls_2032_01_31');
    expect(added.at(-1)).toBe('calls_2032_02');
    expect(await ensurePartitions(database.orm.em.fork(), NOW)).toEqual([]);
  });

  test('partitions have the indexes and checks of their parent', async () => {
    await ensurePartitions(database.orm.em.fork(), NOW);
    const { rows } = await database.pool.query(
      `select indexdef from pg_indexes where tablename = 'calls_2031_12' order by 1`,
    );
    expect(rows.map(({ indexdef }) => indexdef)).toEqual([
      expect.stringContaining('(account_id, created_at)'),
      expect.stringContaining(
        '(account_id, prompt_version_id, created_at) WHERE (prompt_version_id IS NOT NULL)',
      ),
      expect.stringContaining('USING brin (created_at)'),
      expect.stringContaining('UNIQUE INDEX'),
    ]);
    await insert(database.pool, '2031-12-01T00:00:00Z');
    await expect(
      database.pool.query(
        `insert into usage_events select (jsonb_populate_record(null::usage_events, to_jsonb(u) || '{"input_tokens": -1}')).* from usage_events u`,
      ),
    ).rejects.toThrow('check constraint');
  });
});
