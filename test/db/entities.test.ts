import { ensurePartitions } from '../../src/services/partitions/partitions.store.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { schemaDiff } from './schema-diff.js';

describe('entities and the migrated database', () => {
  const open: TestDatabase[] = [];
  const database = async (change = 'select 1'): Promise<TestDatabase> => {
    const db = await createTestDatabase();
    open.push(db);
    await db.pool.query(change);
    return db;
  };
  afterEach(async () => {
    for (const db of open.splice(0)) await db.close();
  });

  test('agree on every table, column and index', async () => {
    const db = await database();
    await ensurePartitions(db.orm.em.fork(), Date.now());
    expect(await schemaDiff(db.orm)).toEqual({ unexplained: [], unused: [] });
  });

  test.each([
    ['a table', 'create table notes (id uuid primary key)', 'drop table if exists "notes"'],
    ['a column', 'alter table accounts add column phone text', 'drop column "phone"'],
    ['a column that is gone', 'alter table plans drop column position', 'add "position" int not null'],
    [
      'a type',
      'alter table api_keys alter column monthly_limit_usd type numeric(24,6)',
      'alter column "monthly_limit_usd" type numeric(24,12)',
    ],
    [
      'a time without its zone',
      'alter table ended_sessions alter column expires_at type timestamp(6)',
      'ended_sessions.expires_at is timestamp(6) without time zone, not timestamptz(6)',
    ],
    [
      'the elements of an array',
      'alter table alert_subscriptions alter column thresholds_pct type integer[]',
      'alert_subscriptions.thresholds_pct is integer[], not smallint[]',
    ],
    [
      'nullability',
      'alter table virtual_keys alter column user_id set not null',
      'alter column "user_id" drop not null',
    ],
    ['a default', `alter table accounts alter column role set default 'admin'`, `set default 'user'`],
    ['an index', 'create index a on login_failures (network_hash)', 'drop index "a"'],
    ['an index that is gone', 'drop index usage_rollups_account', 'create index "usage_rollups_account"'],
    [
      'the condition of an index',
      `drop index alert_events_waiting;
       create index alert_events_waiting on alert_events (kind, account_id, lane, next_attempt_at)
         where delivery_status = 'sent'`,
      'create index "alert_events_waiting"',
    ],
    [
      'the order of an index that MikroORM misreads',
      `drop index api_keys_account; create index api_keys_account on api_keys (account_id, created_at desc, id)`,
      'create index "api_keys_account"',
    ],
    [
      'a foreign key',
      'alter table starter_credits drop constraint starter_credits_account_id_fkey',
      'foreign key ("account_id")',
    ],
    [
      'what a foreign key does',
      `alter table alert_subscriptions drop constraint alert_subscriptions_key_id_fkey,
         add constraint alert_subscriptions_key_id_fkey foreign key (key_id) references api_keys (id)`,
      'on delete cascade',
    ],
    [
      'a unique constraint',
      'alter table models add unique (position)',
      'drop constraint "models_position_key"',
    ],
    ['a check', 'alter table models add constraint c check (position >= 0)', 'drop constraint "c"'],
    [
      'a generated column',
      `alter table alert_events drop column lane;
       alter table alert_events add column lane bigint not null generated always as (0) stored;
       create index alert_events_waiting on alert_events (kind, account_id, lane, next_attempt_at)
         where delivery_status = 'pending'`,
      'add "lane" bigint generated always',
    ],
  ])('differ in %s', async (_what, change, statement) => {
    const { unexplained } = await schemaDiff((await database(change)).orm);
    expect(unexplained.join('\n')).toContain(statement);
  });
});
