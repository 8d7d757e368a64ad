import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { advisoryLocks } from './locks.js';

/** Sets `statement_timeout` for the rest of this transaction. */
export async function limitStatements(em: EntityManager, timeoutMs: number): Promise<void> {
  await sql`select set_config('statement_timeout', ${String(timeoutMs)}, true)`.execute(em.getKysely());
}

/** Sets `lock_timeout` for the rest of this transaction; `isLockFault` recognizes the error. */
export async function limitLockWaits(em: EntityManager, timeoutMs: number): Promise<void> {
  await sql`select set_config('lock_timeout', ${String(timeoutMs)}, true)`.execute(em.getKysely());
}

/** Like `limitLockWaits`, but the time counts from PostgreSQL's check for deadlocks, which ends an autovacuum in the way. */
export async function limitLockWaitsAfterCheck(em: EntityManager, timeoutMs: number): Promise<void> {
  await sql`
    select set_config('lock_timeout', (setting::int + ${timeoutMs}::int)::text, true)
    from pg_settings where name = 'deadlock_timeout'`.execute(em.getKysely());
}

/**
 * Takes an advisory lock until this transaction ends. `name` narrows the lock to one subject; two names with the same hash
 * may wait for each other, which does no harm.
 */
export async function takeTurn(
  em: EntityManager,
  lock: (typeof advisoryLocks)[keyof typeof advisoryLocks],
  name?: string,
): Promise<void> {
  const db = em.getKysely();
  if (name === undefined) await sql`select pg_advisory_xact_lock(${lock})`.execute(db);
  else await sql`select pg_advisory_xact_lock(${lock}, hashtext(${name}))`.execute(db);
}
