import { pino } from 'pino';
import { monthlyGrantsJob } from '../../src/jobs/billing.jobs.js';
import { ensureJobSchema, startJobs } from '../../src/jobs/kit.js';
import { createBillingService } from '../../src/services/billing/billing.service.js';
import { insertAccount, ledgerOf } from '../billing/fixtures.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { jobContext } from './support.js';

describe('the job of included credits', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
    await ensureJobSchema(db.orm, db.pool);
  });
  afterAll(() => db.close());

  const at = (time: string) => jobContext(db.orm, Date.parse(time)).context;

  test('is scheduled every minute', async () => {
    let runs = 0;
    const runner = await startJobs({
      jobs: [monthlyGrantsJob(createBillingService())],
      pool: db.pool,
      log: pino({ level: 'silent' }),
      context: () => jobContext(db.orm).context,
      onRun: () => runs++,
    });
    await until(() => runs > 0);
    await runner.stop(5_000);
    const { rows } = await db.pool.query(
      'select extract(epoch from next_run_at - last_run_at)::float8 as seconds from agenda_jobs',
    );
    expect(rows).toEqual([{ seconds: 60 }]);
  });

  test('grants in the first minute of a month', async () => {
    const accountId = await insertAccount(db, { plan: 'pro' });
    const job = monthlyGrantsJob(createBillingService());
    for (const time of [
      '2026-11-30T23:58:41Z',
      '2026-11-30T23:59:41Z',
      '2026-12-01T00:00:41Z',
      '2026-12-01T00:01:41Z',
    ]) {
      await job.run(at(time), {});
    }
    const grants = await db.pool.query(
      'select created_at from ledger_entries where account_id = $1 order by seq',
      [accountId],
    );
    expect(grants.rows.map(({ created_at }) => created_at.toISOString())).toEqual([
      '2026-11-30T23:58:41.000Z',
      '2026-12-01T00:00:41.000Z',
    ]);
  });

  test('reads the accounts once an hour, and each minute while one is locked', async () => {
    const looks: string[] = [];
    let locked = 0;
    const job = monthlyGrantsJob({
      async grantMonthlyCredits({ clock }) {
        looks.push(new Date(clock.now()).toISOString().slice(11, 16));
        return { examined: 1, granted: 1, locked };
      },
    });
    for (const time of ['09:10', '09:11', '09:59', '10:00', '10:01']) {
      await job.run(at(`2026-12-09T${time}:05Z`), {});
    }
    locked = 1;
    for (const time of ['11:00', '11:01']) await job.run(at(`2026-12-09T${time}:05Z`), {});
    locked = 0;
    for (const time of ['11:02', '11:03']) await job.run(at(`2026-12-09T${time}:05Z`), {});
    expect(looks).toEqual(['09:10', '10:00', '11:00', '11:01', '11:02']);
  });

  test('grants what fell due while no process ran', async () => {
    const accountId = await insertAccount(db, { plan: 'pro' });
    await monthlyGrantsJob(createBillingService()).run(at('2027-02-03T04:05:06Z'), {});
    expect(await ledgerOf(db, accountId)).toMatchObject([
      { idempotency_key: `grant:${accountId}:pro:2027-02` },
    ]);
  });
});
