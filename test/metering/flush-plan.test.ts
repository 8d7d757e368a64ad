import { flushBatch } from '../../src/metering/flush.store.js';
import { firingsOf, limitKey, subscribe } from '../alerts/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { createPayer, recordOf } from './support.js';

const BATCHES = 60;
const BATCH = 100;

describe('a flush into tables that were never analysed', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
    for (const table of ['ledger_entries', 'calls_default', 'accounts']) {
      await db.pool.query(`alter table ${table} set (autovacuum_enabled = off)`);
    }
  });
  afterAll(() => db.close());

  // Each backend reports what it read by itself, within a second or so.
  const rowsRead = (table: string): Promise<{ rows: number }> =>
    until(async () => {
      const { rows } = await db.pool.query<{ seq: string; idx: string; inserted: string }>(
        `select t.seq_tup_read as seq, t.n_tup_ins as inserted,
           (select sum(idx_tup_read) from pg_stat_user_indexes i where i.relid = t.relid) as idx
         from pg_stat_user_tables t where relname = $1`,
        [table],
      );
      await db.pool.query('select pg_stat_force_next_flush()');
      const { seq, idx, inserted } = rows[0]!;
      return Number(inserted) >= BATCHES * BATCH ? { rows: Number(seq) + Number(idx) } : undefined;
    });

  test('a flush reads a bounded number of rows per event, however large the ledger has grown', async () => {
    const payer = await createPayer(db.pool);
    // One threshold is reached near the end, the other never.
    await limitKey(db.pool, payer, 2);
    await subscribe(db.pool, payer, [70, 100]);
    for (let i = 0; i < BATCHES; i++) {
      await flushBatch(
        db.pool,
        Array.from({ length: BATCH }, () => recordOf(payer)),
      );
    }
    expect(await firingsOf(db.pool, payer)).toHaveLength(1);
    for (const table of ['calls_default']) {
      expect((await rowsRead(table)).rows).toBeLessThan(2 * BATCHES * BATCH);
    }
  });
});
