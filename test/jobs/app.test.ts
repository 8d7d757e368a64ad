import { pino } from 'pino';
import { sessionCleanupJob } from '../../src/jobs/accounts.jobs.js';
import { startJobsApp } from '../../src/jobs/app.js';
import { auditJob, monthlyGrantsJob } from '../../src/jobs/billing.jobs.js';
import { resealJob } from '../../src/jobs/keys.jobs.js';
import type { JobRunner } from '../../src/jobs/kit.js';
import { partitionsJob } from '../../src/jobs/usage.jobs.js';
import { newId } from '../../src/lib/ids.js';
import { createRegistry } from '../../src/lib/metrics.js';
import { createEnvelopes } from '../../src/services/envelopes.js';
import { insertAccount } from '../billing/fixtures.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { jobContext } from './support.js';

describe('the jobs process', () => {
  let database: TestDatabase;
  let runner: JobRunner | null;
  beforeEach(async () => {
    database = await createTestDatabase();
    runner = null;
  });
  afterEach(async () => {
    await runner?.stop(5_000);
    await database.close();
  });

  const start = async (enabled: boolean) => {
    const registry = createRegistry('jobs');
    const granted: string[] = [];
    runner = await startJobsApp({
      databaseUrl: database.url,
      orm: database.orm,
      log: pino({ level: 'silent' }),
      registry,
      enabled,
      // Agenda leaves a timer of half the lifetime after each run.
      lockLifetimeMs: 5_000,
      jobs: (reports) => [
        partitionsJob('month'),
        auditJob(reports.violations),
        resealJob(
          { envelopes: createEnvelopes({ encryptionKey: 'x', encryptionKeyPrevious: undefined }) },
          reports.oldSeals,
        ),
        sessionCleanupJob,
        monthlyGrantsJob({
          async grantMonthlyCredits(context) {
            granted.push(context.network);
            return { examined: 1, granted: 1, locked: 0 };
          },
        }),
      ],
    });
    return { registry, granted };
  };

  test('runs every job at its start, and shows a violated invariant in its metrics', async () => {
    await database.pool.query(
      `insert into accounts (id, name, balance, created_at) values ($1, 'A', 5, now())`,
      [newId()],
    );
    const { registry, granted } = await start(true);
    const text = await until(async () => {
      const metrics = await registry.metrics();
      const runs = metrics.match(/^gateway_job_runs_total\{.*outcome="success".*\} 1$/gm) ?? [];
      return runs.length === 5 ? metrics : undefined;
    });
    expect(text).toContain('gateway_invariant_violations{invariant="I4",process="jobs"} 1');
    expect(text).toContain('gateway_invariant_violations{invariant="I2",process="jobs"} 0');
    expect(text).toContain('gateway_old_seals{state="left",process="jobs"} 0');
    expect(granted).toEqual(['jobs']);
  });

  test('shows its own result until another process has run the job', async () => {
    await database.pool.query(
      `insert into accounts (id, name, balance, created_at) values ($1, 'A', 5, now())`,
      [newId()],
    );
    const { registry } = await start(true);
    const jobs = `name in ('audit', 'reseal')`;
    await until(async () => {
      const ended = `select 1 from agenda_jobs where ${jobs} and last_finished_at >= last_run_at and locked_at is null`;
      return (await database.pool.query(ended)).rowCount === 2;
    });
    const found = async () =>
      (await registry.metrics())
        .split('\n')
        .filter((line) => /^gateway_(invariant_violations|old_seals)\{/.test(line));
    expect(await found()).toContain('gateway_invariant_violations{invariant="I4",process="jobs"} 1');
    expect(await found()).toContain('gateway_old_seals{state="left",process="jobs"} 0');
    // Rows of other processes: one with failed runs, one with successful runs.
    await database.pool.query(
      `update agenda_jobs set last_run_at = now(), last_finished_at = now(), failed_at = now() where ${jobs}`,
    );
    expect(await found()).toContain('gateway_invariant_violations{invariant="I4",process="jobs"} 1');
    await database.pool.query(
      `update agenda_jobs set last_run_at = now(), last_finished_at = now(), failed_at = null where ${jobs}`,
    );
    expect(await found()).toEqual([]);
  });

  test('runs and stores nothing when background tasks are off', async () => {
    await start(false);
    expect(runner).toBeNull();
    const { rows } = await database.pool.query(`select to_regclass('agenda_jobs') as jobs`);
    expect(rows).toEqual([{ jobs: null }]);
  });
});

describe('the session clean-up', () => {
  test('removes expired rows, and none that still count', async () => {
    const database = await createTestDatabase();
    const now = Date.UTC(2026, 10, 21, 12);
    const at = (hours: number) => new Date(now + hours * 3_600_000);
    const [expired, alive, old, recent] = [newId(), newId(), newId(), newId()];
    await database.pool.query('insert into ended_sessions values ($1, $2), ($3, $4)', [
      expired,
      at(-1),
      alive,
      at(1),
    ]);
    await database.pool.query(
      `insert into login_failures (id, mail_hash, network_hash, created_at) values ($1, 'm', 'n', $2), ($3, 'm', 'n', $4)`,
      [old, at(-25), recent, at(-23)],
    );
    await database.pool.query(
      `insert into network_counts (name, attempts, failures, ends_at) values ('ended', 1, 1, $1), ('open', 1, 1, $2)`,
      [at(-1), at(1)],
    );
    const account = await insertAccount(database);
    await database.pool.query(
      `insert into known_networks (account_id, network_hash, last_success_at) values ($1, 'forgotten', $2), ($1, 'known', $3)`,
      [account, at(-91 * 24), at(-89 * 24)],
    );
    await sessionCleanupJob.run(jobContext(database.orm, now).context, {});
    const sessions = await database.pool.query('select session_id as id from ended_sessions');
    const failures = await database.pool.query('select id from login_failures');
    const counts = await database.pool.query('select name as id from network_counts');
    const networks = await database.pool.query('select network_hash as id from known_networks');
    expect([sessions, failures, counts, networks].map(({ rows }) => rows)).toEqual([
      [{ id: alive }],
      [{ id: recent }],
      [{ id: 'open' }],
      [{ id: 'known' }],
    ]);
    await database.close();
  });
});
