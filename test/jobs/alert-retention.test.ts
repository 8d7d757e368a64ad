import { alertRetentionJob } from '../../src/jobs/retention.jobs.js';
import { fire, subscribe } from '../alerts/delivery/fixtures.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { jobContext } from './support.js';

describe('the retention of alerts', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());

  const runIn = async (months: number) => {
    const then = new Date();
    then.setUTCMonth(then.getUTCMonth() + months);
    const { context, logged } = jobContext(db.orm, then.getTime());
    await alertRetentionJob({ usage: 1, history: 13 }, () => undefined).run(context, {});
    return logged;
  };
  const left = async () => (await db.pool.query<{ id: string }>('select id from alert_events')).rows;

  test('removes alerts that ended more than 13 months ago, and no pending or newer ones', async () => {
    const to = await subscribe(db.pool, 'https://hooks.example.com/x');
    const waiting = await fire(db.pool, to);
    const [old, repeated] = [await fire(db.pool, to), await fire(db.pool, to)];
    await db.pool.query(
      `update alert_events set delivery_status = 'sent', next_attempt_at = null,
         finished_at = case when id = $2 then now() + interval '13 months' else now() end
       where id in ($1, $2)`,
      [old, repeated],
    );
    expect(await runIn(12)).toEqual([]);
    expect(await left()).toHaveLength(3);
    expect(await runIn(14)).toMatchObject([{ events: 1, mails: 0 }]);
    expect((await left()).map(({ id }) => id).toSorted()).toEqual([waiting, repeated].toSorted());
  });

  test('removes mails that no limit counts any more', async () => {
    await db.pool.query(
      `insert into alert_mails (event_id, series, account_id, recipient_hash, standing, admitted_at)
       select gen_random_uuid(), 0, gen_random_uuid(), 'x', 'own', now() - hours * interval '1 hour'
       from unnest('{1, 25, 49}'::int[]) hours`,
    );
    expect(await runIn(0)).toMatchObject([{ mails: 1 }]);
    const { rows } = await db.pool.query(
      `select 1 from alert_mails where admitted_at < now() - interval '2 days'`,
    );
    expect(rows).toEqual([]);
  });
});
