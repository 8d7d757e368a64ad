import { join } from 'node:path';
import pg from 'pg';
import { ensureDatabase, startEmbeddedPostgres } from '../../src/db/embedded.js';
import { migrate } from '../../src/db/migrate.js';
import { openOrm } from '../../src/db/orm.js';
import { seedCatalog } from '../../src/db/seed.js';
import { newId } from '../../src/lib/ids.js';
import { DOLLAR } from '../../src/lib/money.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import { temporaryFolder } from '../launcher/support.js';
import { createPayer, type Payer, recordOf } from '../metering/support.js';
import { underAutovacuum } from '../support/autovacuum.js';
import { putCluster } from '../support/cluster.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { checkInvariants } from '../support/invariants.js';
import { until } from '../support/until.js';

const FIRST = 'Migration20261121000000';

describe('a database of the previous version', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase('template0');
    await db.orm.migrator.up({ to: FIRST });
    await seedCatalog(db.orm.em.fork());
  });
  afterAll(() => db.close());

  /** A call as that version recorded it. */
  async function book(payer: Payer, record: ReturnType<typeof recordOf>): Promise<void> {
    const at = new Date(record.createdAt);
    await db.pool.query(
      `insert into usage_events (id, created_at, account_id, key_id, requested_model, served_model, endpoint, stream,
         input_tokens, output_tokens, price_in, price_out, cost, latency_ms, status, http_status)
       values ($1, $2, $3, $4, $5, $5, 'chat', false, $6, $7, $8::numeric / 1000000, $9::numeric / 1000000,
         $10::numeric / 1000000000000, 12, 'success', 200)`,
      [
        ...[record.id, at, payer.accountId, payer.keyId, record.requestedModel, record.inputTokens],
        ...[record.outputTokens, record.priceIn, record.priceOut, record.cost],
      ],
    );
    await db.pool.query(
      `with entry as (
         insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, event_id, price_in, price_out, created_at)
         select u.id, a.id, 2, 'usage', -u.cost, a.balance - u.cost, u.id, u.price_in, u.price_out, u.created_at
         from accounts a join usage_events u on u.account_id = a.id
         returning account_id, balance_after)
       update accounts set balance = e.balance_after, ledger_seq = 2 from entry e where accounts.id = e.account_id`,
    );
    await db.pool.query(
      `insert into key_spend_days (key_id, day, spend) select key_id, (created_at at time zone 'UTC')::date, cost from usage_events`,
    );
    await db.pool.query(
      `insert into key_spend_months select key_id, to_char(created_at at time zone 'UTC', 'YYYY-MM'), cost from usage_events`,
    );
    await db.pool.query(
      `insert into account_usage_hours select account_id, date_trunc('hour', created_at, 'UTC'), 1 from usage_events`,
    );
    await db.pool.query(
      `insert into rollup_dirty select date_trunc('hour', created_at, 'UTC') from usage_events`,
    );
  }

  test('keeps its books, and charges no event again', async () => {
    const payer = await createPayer(db.pool, DOLLAR);
    const record = recordOf(payer, { createdAt: Date.UTC(2026, 10, 30, 23, 59) });
    await book(payer, record);
    const usedAt = new Date('2026-10-05T06:07:08.009Z');
    await db.pool.query('update api_keys set last_used_at = $1', [usedAt]);

    // A flush of that version is under way: it has locked its account and is about to write.
    const flush = await db.pool.connect();
    await flush.query('begin');
    await flush.query('select from accounts for no key update');
    const migrating = migrate(db.orm);
    migrating.catch(() => undefined);
    const waiting = `select from pg_locks l join pg_database d on d.oid = l.database
      where not granted and datname = current_database()`;
    await until(async () => (await db.pool.query(waiting)).rowCount);
    await flush.query('lock table ledger_entries in row exclusive mode');
    await flush.query('commit');
    flush.release();
    expect((await migrating).migrations).not.toContain(FIRST);

    expect((await db.pool.query('select last_used_at as at from key_spend_days order by day')).rows).toEqual([
      { at: usedAt },
      { at: null },
    ]);
    const next = recordOf(payer, { createdAt: Date.UTC(2026, 10, 30, 23, 59, 30) });
    const again = { ...record, createdAt: record.createdAt + 1 };
    const result = await flushBatch(db.pool, [record, again, next]);
    expect(result).toMatchObject({
      inserted: 1,
      accounts: [{ id: payer.accountId, balance: DOLLAR - record.cost - next.cost, seq: 3n }],
      keyDays: [{ keyId: payer.keyId, day: '2026-11-30', spend: record.cost + next.cost }],
    });
    expect(await checkInvariants(db.pool)).toEqual([]);
  });
});

describe('a database that an audit of the previous version reads during the upgrade', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase('template0');
    await db.orm.migrator.up({ to: 'Migration20261215000000' });
    await seedCatalog(db.orm.em.fork());
  });
  afterAll(() => db.close());

  test('serves calls all the time, and is upgraded once the audit has ended', async () => {
    const reader = await db.pool.connect();
    await reader.query('begin isolation level repeatable read');
    await reader.query('select count(*) from usage_events');
    const migrating = migrate(db.orm);
    migrating.catch(() => undefined);
    const wanted = `select from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
      where not granted and mode = 'AccessExclusiveLock' and relation = 'usage_events'::regclass`;
    // Twice: the first attempt has been given up by then, and the next one doesn't wait longer.
    for (let nth = 0; nth < 2; nth++) {
      await until(async () => (await db.pool.query(wanted)).rowCount, { intervalMs: 5 });
      const writer = await db.pool.connect();
      await writer.query(`set statement_timeout = '5s'`);
      await writer.query(
        `insert into usage_events (id, created_at, account_id, requested_model, served_model, endpoint, stream,
           input_tokens, output_tokens, price_in, price_out, cost, latency_ms, status, http_status)
         values ($1, now(), $2, 'gateway/fast', 'gateway/fast', 'chat', false, 1, 1, 0, 0, 0, 1, 'success', 200)`,
        [newId(), newId()],
      );
      writer.release(true);
    }
    await reader.query('commit');
    reader.release();
    expect((await migrating).migrations).toContain('Migration20261216000000');
    expect((await db.pool.query('select moved_to from usage_events')).rows).toEqual([
      { moved_to: null },
      { moved_to: null },
    ]);
  });
});

/** On a separate server, because the shared one has no autovacuum. */
describe('a database whose usage is being vacuumed during the upgrade', () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());

  test('is upgraded, and the autovacuum ends instead', async () => {
    const dataDir = join(folder.path, 'data');
    await putCluster(dataDir);
    const server = await startEmbeddedPostgres({ directory: join(dataDir, 'postgres') });
    await ensureDatabase(server, 'before');
    const databaseUrl = server.url('before');
    const orm = openOrm({ databaseUrl, processName: 'test' });
    const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
    // The server may end a connection that is still closing.
    pool.on('error', () => undefined);
    try {
      await orm.migrator.up({ to: 'Migration20261215000000' });
      await seedCatalog(orm.em.fork());
      await underAutovacuum(pool, { table: 'usage_events_default', createdAt: new Date() });
      expect((await migrate(orm)).migrations).toContain('Migration20261216000000');
    } finally {
      await pool.end();
      await orm.close(true);
      await server.stop();
    }
  });
});

describe('a database whose merged days have no cost yet', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase('template0');
    await db.orm.migrator.up({ to: 'Migration20261216000000' });
    await seedCatalog(db.orm.em.fork());
  });
  afterAll(() => db.close());

  test('has its days merged again, and loses counts of widgets whose account was deleted', async () => {
    const { accountId } = await createPayer(db.pool);
    const [widgetId, gone] = [newId(), newId()];
    await db.pool.query(
      `insert into widgets (id, account_id, public_key, name, model_public_name, greeting_message, placeholder,
         primary_color, position, allowed_domains, rate_limit_per_minute, daily_message_limit, verified_history,
         status, created_at, updated_at)
       values ($1, $2, 'wgt', 'w', 'gateway/fast', '', '', '#000000', 'bottom-right', '{}', 10, 200, false, 'deleted', now(), now())`,
      [widgetId, accountId],
    );
    for (const id of [widgetId, gone]) {
      await db.pool.query(`insert into widget_site_days values ($1, $2, '2026-11-01', '', 'answered', 1)`, [
        accountId,
        id,
      ]);
    }
    for (const day of ['2026-11-01', '2026-11-03']) {
      await db.pool.query(`insert into usage_latency_days values ($1, $2, null, null, '{13}', '{1}')`, [
        day,
        accountId,
      ]);
    }
    await migrate(db.orm);
    const { rows: days } = await db.pool.query('select day::text from rollup_unsummed_days order by day');
    expect(days.map(({ day }) => day)).toEqual(['2026-11-01', '2026-11-02', '2026-11-03']);
    const { rows: counts } = await db.pool.query('select widget_id from widget_site_days');
    expect(counts).toEqual([{ widget_id: widgetId }]);
  });
});
