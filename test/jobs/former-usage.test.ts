import { migrate } from '../../src/db/migrate.js';
import { seedCatalog } from '../../src/db/seed.js';
import { newId } from '../../src/lib/ids.js';
import { DOLLAR } from '../../src/lib/money.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import { createBillingService } from '../../src/services/billing/billing.service.js';
import { removeOldUsage } from '../../src/services/retention/retention.service.js';
import { rollUpAt } from '../analytics/support.js';
import { contextOf } from '../billing/fixtures.js';
import { createPayer, type Payer, recordOf } from '../metering/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { checkInvariants } from '../support/invariants.js';
import { jobContext } from './support.js';

/** The last migration of version 1.1's tables. */
const FORMER = 'Migration20261223000000';
const SEPTEMBER = Date.UTC(2026, 8, 10, 12);
const COST = '0.00025';

describe('usage in the tables of version 1.1', () => {
  let db: TestDatabase;
  let payer: Payer;
  const billing = createBillingService();
  const [id, next] = [newId(), newId()];
  beforeAll(async () => {
    db = await createTestDatabase('template0');
    await db.orm.migrator.up({ to: FORMER });
    await seedCatalog(db.orm.em.fork());
    payer = await createPayer(db.pool, DOLLAR);
    await db.pool.query(
      `create table usage_events_2026_09 partition of usage_events for values from ('2026-09-01Z') to ('2026-10-01Z')`,
    );
    await db.pool.query(
      `with event as (
         insert into usage_events (id, created_at, account_id, key_id, requested_model, served_model, endpoint, stream,
           input_tokens, output_tokens, price_in, price_out, cost, latency_ms, status, http_status)
         values ($1, $2, $3, $4, 'gateway/fast', 'gateway/fast', 'chat', false, 1000, 500, 0.1, 0.3, ${COST}, 12, 'success', 200)
         returning *),
       entry as (
         insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, event_id, price_in, price_out, created_at)
         select id, account_id, 2, 'usage', -cost, 1 - cost, id, price_in, price_out, created_at from event),
       hour as (
         insert into account_usage_hours select account_id, date_trunc('hour', created_at, 'UTC'), 1 from event),
       day as (
         insert into key_spend_days (key_id, day, spend) select key_id, created_at::date, cost from event),
       dirty as (insert into rollup_dirty select date_trunc('hour', created_at, 'UTC') from event)
       update accounts set balance = 1 - ${COST}, ledger_seq = 2 where id = $3`,
      [id, new Date(SEPTEMBER), payer.accountId, payer.keyId],
    );
    await migrate(db.orm);
    const after = SEPTEMBER + 60 * 86_400_000;
    await flushBatch(db.pool, [recordOf(payer, { id: next, createdAt: after })]);
    await rollUpAt(db, after + 7_200_000);
  });
  afterAll(() => db.close());

  const context = () => contextOf(db, payer.accountId, () => Date.UTC(2026, 10, 30));
  const listed = async () =>
    (await billing.usage(context(), { limit: 10, offset: 0 })).items.map((item) => item.id);

  test('is listed, charged and audited together with that in the present one', async () => {
    expect(await listed()).toEqual([next, id]);
    const ledger = await billing.ledger(context(), { limit: 10, offset: 0 });
    expect(ledger.map(({ kind, event_id, calls }) => [kind, event_id, calls])).toEqual([
      ['usage', null, 1],
      ['usage', id, 1],
      ['starter', null, null],
    ]);
    expect(await billing.ledger(context(), { limit: 10, offset: 2 })).toEqual([ledger[2]]);
    const late = recordOf(payer, { id, createdAt: SEPTEMBER });
    expect((await flushBatch(db.pool, [late])).inserted).toBe(0);
    expect(await checkInvariants(db.pool)).toEqual([]);
  });

  test('is dropped with its table once it is too old, and the rest stays as it is', async () => {
    const removed = await removeOldUsage(jobContext(db.orm, Date.UTC(2027, 10, 1)).context, { months: 13 });
    expect(removed).toEqual([{ table: 'usage_events_2026_09', events: 1 }]);
    const { rows } = await db.pool.query<{ former: string | null; kept: string }>(
      `select to_regclass('former_usage_events') as former, (select count(*) from former_usage) as kept`,
    );
    expect(rows).toEqual([{ former: null, kept: '0' }]);
    expect(await listed()).toEqual([next]);
    expect(
      (await flushBatch(db.pool, [recordOf(payer, { createdAt: SEPTEMBER + 61 * 86_400_000 })])).inserted,
    ).toBe(1);
    expect(await checkInvariants(db.pool)).toEqual([]);
  });
});
