import { setTimeout as delay } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { type Client, escapeIdentifier } from 'pg';
import { SESSION_LIMITS } from './bounded.js';
import { DatabaseClient } from './client.js';
import { isLockFault } from './lock-fault.js';
import { advisoryLocks } from './locks.js';

/** Maximum time that writers wait while an index is attached. */
const ATTACH_WAIT = '300ms';
const POLL_MS = 250;

/** Indexes of whole tables that a migration creates only if the table is empty: name → the part of the statement after `on`. */
const WHOLE: Record<string, string> = {
  admin_actions_actor: 'admin_actions (actor_id, created_at desc, id desc)',
  usage_rollups_hour: 'usage_rollups (hour)',
  usage_rollups_errors: 'usage_rollups (account_id, hour) where errors > 0',
  ledger_entries_credits: `ledger_entries (account_id, created_at) where kind <> 'usage'`,
};

/** An index of a partitioned table that is missing on one partition. */
interface MissingPart {
  index: string;
  partition: string;
  /** `USING …`: columns and condition. */
  definition: string;
}

/**
 * Builds the indexes of large tables that migrations leave open, without blocking writers: the missing parts of indexes created
 * with `on only`, one partition after the other, and the indexes of `WHOLE`. PostgreSQL can't do this in the migrations'
 * transaction. If a process ends in the middle, the next one continues.
 */
export async function buildPartitionIndexes(orm: MikroORM): Promise<void> {
  // A separate connection: building may take an hour, and closing it ends its settings and its lock.
  const client = new DatabaseClient({
    connectionString: orm.config.get('clientUrl'),
    application_name: 'gateway-indexes',
    keepAlive: true,
    statement_timeout: 0,
    ...SESSION_LIMITS,
  });
  // The query under way rejects; without a listener, the event would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await buildMissing(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function buildMissing(client: Client): Promise<void> {
  if (!(await lacksAny(client))) return;
  while (!(await tryLock(client))) {
    // Polled, because a statement that waits for the lock would block `create index concurrently`.
    await delay(POLL_MS);
    if (!(await lacksAny(client))) return;
  }
  for (const name of await missingWhole(client)) {
    // An invalid index left by an interrupted build.
    await client.query(`drop index concurrently if exists ${name}`);
    await client.query(`create index concurrently ${name} on ${WHOLE[name]}`);
  }
  for (const part of await missingParts(client)) await buildPart(client, part);
}

const lacksAny = async (client: Client): Promise<boolean> =>
  (await missingWhole(client)).length + (await missingParts(client)).length > 0;

async function missingWhole(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select name from unnest($1::text[]) as name
     where not exists (select from pg_index where indexrelid = to_regclass(name) and indisvalid)`,
    [Object.keys(WHOLE)],
  );
  return rows.map(({ name }) => name);
}

async function tryLock(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
    advisoryLocks.partitionIndexes,
  ]);
  return rows[0]!.locked;
}

async function missingParts(client: Client): Promise<MissingPart[]> {
  const { rows } = await client.query<MissingPart>(`
    select whole.indexrelid::regclass::text as index, partition.inhrelid::regclass::text as partition,
      substring(pg_get_indexdef(whole.indexrelid) from 'USING .*') as definition
    from pg_index whole
    join pg_class table_of on table_of.oid = whole.indrelid and table_of.relkind = 'p'
      and table_of.relnamespace = current_schema()::regnamespace
    join pg_inherits partition on partition.inhparent = whole.indrelid
    where not whole.indisvalid and not exists (
      select from pg_inherits attached join pg_index part on part.indexrelid = attached.inhrelid
      where attached.inhparent = whole.indexrelid and part.indrelid = partition.inhrelid)
    order by 1, 2`);
  return rows;
}

async function buildPart(client: Client, { index, partition, definition }: MissingPart): Promise<void> {
  const name = escapeIdentifier(`${index}__${partition}`);
  // An invalid index left by an interrupted build.
  await client.query(`drop index concurrently if exists ${name}`);
  await client.query(`create index concurrently ${name} on ${partition} ${definition}`);
  await client.query(`set lock_timeout = '${ATTACH_WAIT}'`);
  while (!(await tryAttach(client, index, name))) await delay(POLL_MS);
  await client.query('reset lock_timeout');
}

async function tryAttach(client: Client, index: string, name: string): Promise<boolean> {
  try {
    await client.query(`alter index ${index} attach partition ${name}`);
    return true;
  } catch (error) {
    if (isLockFault(error)) return false;
    throw error;
  }
}
