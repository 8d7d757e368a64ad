import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { z } from 'zod';
import {
  defineJob,
  ensureJobSchema,
  type JobDefinition,
  type JobRunner,
  startJobs,
} from '../../src/jobs/kit.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { jobContext } from './support.js';

/** No test waits until it expires, so it is long enough for a frozen machine to keep a lock. */
const LOCK_MS = 5_000;
/** Lifetime of a lock that must be renewed in time, even if the machine freezes for two seconds. */
const RENEWED_LOCK_MS = 4_000;
const POLL_MS = 20;
/** Several polls, in which nothing may happen. */
const LOOKS_MS = 10 * POLL_MS;

describe('scheduled jobs', () => {
  let database: TestDatabase;
  let runners: JobRunner[];
  let runs: string[];
  beforeAll(async () => {
    database = await createTestDatabase();
    await ensureJobSchema(database.orm, database.pool);
  });
  afterAll(() => database.close());
  beforeEach(() => {
    runners = [];
    runs = [];
  });
  afterEach(async () => {
    await Promise.all(runners.map((runner) => runner.stop(5_000)));
    await database.pool.query('truncate agenda_jobs');
  });

  const start = async (job: JobDefinition, lockLifetimeMs = LOCK_MS): Promise<JobRunner> => {
    const runner = await startJobs({
      jobs: [job],
      pool: database.pool,
      log: pino({ level: 'silent' }),
      context: () => jobContext(database.orm).context,
      onRun: (name, outcome) => runs.push(`${name} ${outcome}`),
      pollMs: POLL_MS,
      lockLifetimeMs,
    });
    runners.push(runner);
    return runner;
  };
  const job = (run: JobDefinition['run'], more: Partial<JobDefinition> = {}) =>
    defineJob({ name: 'work', schema: z.strictObject({}), every: '1 hour', data: {}, run, ...more });
  const row = async () =>
    (await database.pool.query(`select * from agenda_jobs where name = 'work'`)).rows[0] as Record<
      string,
      unknown
    >;

  test("many processes create the scheduler's tables at once without a conflict", async () => {
    const fresh = await createTestDatabase();
    const pools = Array.from({ length: 4 }, () => new pg.Pool({ connectionString: fresh.url, max: 2 }));
    await Promise.all(pools.map((pool) => ensureJobSchema(fresh.orm, pool)));
    expect((await fresh.pool.query('select 1 from agenda_jobs')).rowCount).toBe(0);
    await Promise.all(pools.map((pool) => pool.end()));
    await fresh.close();
  });

  test('a new job runs at once, and again only when it is due, also after a restart', async () => {
    const first = await start(job(async () => undefined));
    await until(() => runs.length === 1);
    const due = (await row()).next_run_at as Date;
    expect(due.getTime() - Date.now()).toBeGreaterThan(3_500_000);
    await first.stop(5_000);
    await start(job(async () => undefined));
    await delay(LOOKS_MS);
    expect(runs).toEqual(['work success']);
    expect((await row()).next_run_at).toEqual(due);
  });

  test('a job that fell due while no process ran is run at the next start', async () => {
    const first = await start(job(async () => undefined));
    await until(() => runs.length === 1);
    await first.stop(5_000);
    await database.pool.query(`update agenda_jobs set next_run_at = now() - interval '3 hours'`);
    await start(job(async () => undefined));
    await until(() => runs.length === 2);
  });

  test('each run happens in one process only', async () => {
    let count = 0;
    const work = job(async () => {
      count++;
    });
    await Promise.all([start(work), start(work), start(work)]);
    await until(() => count > 0);
    await delay(LOOKS_MS);
    expect(count).toBe(1);
    expect((await database.pool.query('select 1 from agenda_jobs')).rowCount).toBe(1);
  });

  test('a job gets only data that its schema accepts, and fails on any other', async () => {
    const seen: unknown[] = [];
    const typed = defineJob({
      name: 'work',
      schema: z.strictObject({ days: z.number().int() }),
      every: '1 hour',
      data: { days: 7 },
      run: async (_context, data) => {
        seen.push(data);
      },
    });
    await start(typed);
    await until(() => seen.length === 1);
    expect(seen).toEqual([{ days: 7 }]);
    await until(async () => (await row()).locked_at === null);
    await database.pool.query(`update agenda_jobs set data = '{"days":"many"}', next_run_at = now()`);
    await until(() => runs.length === 2);
    expect(runs).toEqual(['work success', 'work failure']);
    expect(seen).toHaveLength(1);
  });

  test('a failed job keeps its schedule', async () => {
    await start(
      job(async () => {
        throw new Error('the database refused');
      }),
    );
    await until(async () => (await row()).fail_reason !== null);
    const failed = await row();
    expect(failed.fail_reason).toBe('the database refused');
    expect((failed.next_run_at as Date).getTime()).toBeGreaterThan(Date.now());
  });

  test('another process takes over the job of a dead worker once its lock expires', async () => {
    const first = await start(job(async () => undefined));
    await until(async () => (await row()).locked_at === null && runs.length === 1);
    await first.stop(5_000);
    // The row of a killed worker: locked, started, never finished, with the next run already computed.
    await database.pool.query(
      `update agenda_jobs set locked_at = now() - interval '61 seconds', last_run_at = now() - interval '61 seconds',
         last_finished_at = null, next_run_at = now() - interval '61 seconds'`,
    );
    await start(job(async () => undefined));
    await until(() => runs.length === 2);
  });

  test('a job that takes longer than its lock lives keeps the lock, and nobody else runs it', async () => {
    let begun = 0;
    let lockedAt: unknown;
    const long = job(async () => {
      begun++;
      await delay(1.6 * RENEWED_LOCK_MS);
      lockedAt = (await row()).locked_at;
    });
    await start(long, RENEWED_LOCK_MS);
    await until(() => begun === 1);
    await start(long, RENEWED_LOCK_MS);
    await until(() => runs.length === 1);
    expect(begun).toBe(1);
    // Without a renewal, the worker loses the job.
    expect(lockedAt).not.toBeNull();
    expect((await row()).fail_reason).toBeNull();
  });

  test('a stop waits for running jobs, and no longer', async () => {
    let finish: (() => void) | undefined;
    const runner = await start(
      job(
        () =>
          new Promise<void>((done) => {
            finish = done;
          }),
      ),
    );
    await until(() => finish);
    const began = Date.now();
    const stopped = runner.stop(20_000);
    finish!();
    await stopped;
    expect(Date.now() - began).toBeLessThan(10_000);
    expect(runs).toEqual(['work success']);
    expect((await row()).locked_at).toBeNull();
  });

  test('a job that does not end in time does not keep the process', async () => {
    let finish: (() => void) | undefined;
    const runner = await start(
      job(
        () =>
          new Promise<void>((done) => {
            finish = done;
          }),
      ),
    );
    await until(() => finish);
    await runner.stop(100);
    expect((await row()).locked_at).not.toBeNull();
    finish!();
    await until(() => runs.length === 1);
  });
});
