import { buildPartitionIndexes } from '../../src/db/partition-indexes.js';
import { seedCatalog } from '../../src/db/seed.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';

const BEFORE = 'Migration20261123000000';
/** Later, calls are in a table without such an index. */
const LAST_WITH_IT = 'Migration20261223000000';
const INSERT = `insert into usage_events (id, created_at, account_id, key_id, requested_model, served_model, endpoint, stream,
  input_tokens, output_tokens, price_in, price_out, cost, latency_ms, status, http_status)
  select gen_random_uuid(), now() - n * interval '1 second', $1, case when n % $3 = 0 then $2 else gen_random_uuid() end,
    'm', 'm', 'chat', false, 1, 1, 1, 1, 0.000002, 5, 'success', 200 from generate_series(1, $4::int) n`;
const ACCOUNT = '01900000-0000-7000-8000-000000000001';
const RARE_KEY = '01900000-0000-7000-8000-000000000002';

describe('an index of the usage events', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase('template0');
    await db.orm.migrator.up({ to: BEFORE });
    await seedCatalog(db.orm.em.fork());
    await db.pool.query(`create table usage_events_recent partition of usage_events
      for values from (now() - interval '1 day') to (now() + interval '1 day')`);
    await db.pool.query(INSERT, [ACCOUNT, RARE_KEY, 200, 20_000]);
  });
  afterAll(() => db.close());

  const isValid = async (): Promise<boolean> => {
    const { rows } = await db.pool.query<{ valid: boolean }>(
      `select indisvalid as valid from pg_index where indexrelid = 'usage_events_key'::regclass`,
    );
    return rows[0]!.valid;
  };

  test('one of several starting processes builds it while usage is written, and continues where another ended', async () => {
    // A call that is being written for a long time.
    const writer = await db.pool.connect();
    const other = await db.pool.connect();
    try {
      await db.orm.migrator.up({ to: LAST_WITH_IT });
      expect(await isValid()).toBe(false);
      await writer.query('begin');
      await writer.query(INSERT, [ACCOUNT, RARE_KEY, 1_000, 1]);
      // An interrupted build.
      await db.pool.query(
        'create index usage_events_key__usage_events_default on usage_events_default (account_id)',
      );
      const building = Promise.all([buildPartitionIndexes(db.orm), buildPartitionIndexes(db.orm)]);
      const waiting = `select from pg_stat_activity where application_name = 'gateway-indexes' and wait_event_type = 'Lock'`;
      await until(async () => (await db.pool.query(waiting)).rowCount);
      // The build waits for the writer, and others write meanwhile.
      await other.query(`set lock_timeout = '2s'`);
      await other.query(INSERT, [ACCOUNT, RARE_KEY, 1_000, 1]);
      await writer.query('commit');
      await building;
    } finally {
      writer.release();
      other.release(true);
    }
    expect(await isValid()).toBe(true);
    await buildPartitionIndexes(db.orm);
  });

  test('an index of a whole table is built if its migration left it open, and replaces an invalid one', async () => {
    await db.pool.query('drop index if exists ledger_entries_credits');
    // An interrupted build.
    await db.pool.query('create index ledger_entries_credits on ledger_entries (id)');
    await db.pool.query(
      `update pg_index set indisvalid = false where indexrelid = 'ledger_entries_credits'::regclass`,
    );
    await buildPartitionIndexes(db.orm);
    const { rows } = await db.pool.query(
      `select indisvalid, pg_get_indexdef(indexrelid) as made from pg_index
       where indexrelid = 'ledger_entries_credits'::regclass`,
    );
    expect(rows).toEqual([
      {
        indisvalid: true,
        made: expect.stringMatching(/\(account_id, created_at\) WHERE \(kind <> 'usage'::text\)$/),
      },
    ]);
  });
});
