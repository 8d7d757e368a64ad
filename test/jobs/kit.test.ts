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
/** Lifetime of a lock that a test waits for. */
const SHORT_LOCK_MS = 600;
const POLL_MS = 20;
/** On a machine that freezes for two seconds. */
const MOST_LATE_MS = 3_000;
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

  const start = async (
    job: JobDefinition,
    lockLifetimeMs = LOCK_MS,
    pool = database.pool,
  ): Promise<JobRunner> => {
    const runner = await startJobs({
      jobs: [job],
      pool,
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
    await until(async () => runs.length === 1 && (await row()).locked_at === null);
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

  test('another process takes over the job of a dead worker once its lock expires, long before it is next due', async () => {
    const pool = new pg.Pool({ connectionString: database.url, max: 2 });
    let finish: (() => void) | undefined;
    const first = await start(
      job(() => new Promise((done) => (finish = done))),
      SHORT_LOCK_MS,
      pool,
    );
    await until(() => finish);
    // From here on the worker is as good as dead: it can neither renew its lock nor record an end.
    await first.stop(1);
    await pool.end();
    await start(
      job(async () => undefined),
      SHORT_LOCK_MS,
    );
    await until(() => runs.length === 1);
    expect(runs).toEqual(['work success']);
    finish!();
  });

  test('a worker that has lost its lock neither takes it back nor keeps others from the job', async () => {
    const { context, logged } = jobContext(database.orm);
    let finish: (() => void) | undefined;
    const runner = await startJobs({
      jobs: [job(() => new Promise((done) => (finish = done)))],
      pool: database.pool,
      log: pino({ level: 'silent' }),
      context: () => context,
      pollMs: POLL_MS,
      lockLifetimeMs: SHORT_LOCK_MS,
    });
    runners.push(runner);
    await until(() => finish);
    // As another process that takes the job.
    const { rows } = await database.pool.query(
      `update agenda_jobs set locked_at = now() + interval '1 hour' returning locked_at`,
    );
    await until(() => logged.some(({ msg }) => msg === 'failed to renew the lock of a job'));
    expect((await row()).locked_at).toEqual(rows[0].locked_at);
    finish!();
  });

  test('a scheduler without a due job only reads: one statement per look, whatever the number of jobs', async () => {
    const pool = new pg.Pool({ connectionString: database.url, max: 2 });
    const sent: string[] = [];
    const ask = pool.query.bind(pool) as (...query: unknown[]) => unknown;
    pool.query = ((query: string | pg.QueryConfig, ...rest: unknown[]) => {
      sent.push(typeof query === 'string' ? query : query.text);
      return ask(query, ...rest);
    }) as never;
    const names = ['one', 'two', 'three'];
    const runner = await startJobs({
      jobs: names.map((name) => job(async () => undefined, { name })),
      pool,
      log: pino({ level: 'silent' }),
      context: () => jobContext(database.orm).context,
      onRun: (name, outcome) => runs.push(`${name} ${outcome}`),
      pollMs: POLL_MS,
      lockLifetimeMs: LOCK_MS,
    });
    runners.push(runner);
    const versions = async () =>
      (await database.pool.query('select name, xmin, xmax, locked_at from agenda_jobs order by name')).rows;
    await until(async () => runs.length === 3 && (await versions()).every((one) => one.locked_at === null));
    const before = await versions();
    sent.length = 0;
    const began = performance.now();
    await until(() => sent.length >= 10);
    const looks = (performance.now() - began) / POLL_MS;
    expect(new Set(sent.map((text) => text.split(' ')[0]))).toEqual(new Set(['select']));
    expect(sent.length).toBeLessThanOrEqual(looks + 2);
    expect(await versions()).toEqual(before);
    await runner.stop(5_000);
    await pool.end();
  });

  test('a job runs when it falls due, not a look later', async () => {
    const first = await start(job(async () => undefined));
    await until(async () => runs.length === 1 && (await row()).locked_at === null);
    await database.pool.query(`update agenda_jobs set next_run_at = now() + interval '1 second'`);
    const due = (await row()).next_run_at as Date;
    await until(() => runs.length === 2);
    await first.stop(5_000);
    const lateMs = ((await row()).last_run_at as Date).getTime() - due.getTime();
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThan(MOST_LATE_MS);
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
