import { flushBatch } from '../../src/metering/flush.store.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { createPayer, recordOf } from './support.js';

const BATCHES = 60;
const BATCH = 100;

describe('a flush into tables that were never analysed', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
    for (const table of ['ledger_entries', 'usage_events_default', 'accounts']) {
      await db.pool.query(`alter table ${table} set (autovacuum_enabled = off)`);
    }
  });
  afterAll(() => db.close());

  test('reads a bounded number of rows per event, however large the ledger has grown', async () => {
    const payer = await createPayer(db.pool);
    for (let i = 0; i < BATCHES; i++) {
      await flushBatch(
        db.pool,
        Array.from({ length: BATCH }, () => recordOf(payer)),
      );
    }
    // Each backend reports what it read by itself, within a second or so.
    const read = await until(async () => {
      const { rows } = await db.pool.query<{ seq: string; idx: string; inserted: string }>(
        `select t.seq_tup_read as seq, t.n_tup_ins as inserted,
           (select sum(idx_tup_read) from pg_stat_user_indexes i where i.relid = t.relid) as idx
         from pg_stat_user_tables t where relname = 'ledger_entries'`,
      );
      await db.pool.query('select pg_stat_force_next_flush()');
      return Number(rows[0]!.inserted) >= BATCHES * BATCH ? rows[0] : undefined;
    });
    expect(Number(read.seq) + Number(read.idx)).toBeLessThan(2 * BATCHES * BATCH);
  });
});
