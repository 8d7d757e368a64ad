import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { advisoryLocks } from './locks.js';

/** Fails each further statement of this transaction that runs longer. */
export async function limitStatements(em: EntityManager, timeoutMs: number): Promise<void> {
  await sql`select set_config('statement_timeout', ${String(timeoutMs)}, true)`.execute(em.getKysely());
}

/** Fails each further statement of this transaction that waits longer for a lock (`isLockFault`). */
export async function limitLockWaits(em: EntityManager, timeoutMs: number): Promise<void> {
  await sql`select set_config('lock_timeout', ${String(timeoutMs)}, true)`.execute(em.getKysely());
}

/** Likewise, but counts from PostgreSQL's check for deadlocks, which also ends an autovacuum that is in the way. */
export async function limitLockWaitsAfterCheck(em: EntityManager, timeoutMs: number): Promise<void> {
  await sql`
    select set_config('lock_timeout', (setting::int + ${timeoutMs}::int)::text, true)
    from pg_settings where name = 'deadlock_timeout'`.execute(em.getKysely());
}

/**
 * Waits until no other transaction holds the lock, then holds it until this one ends. `name` narrows it to one subject;
 * two names with the same hash wait for each other now and then, which does no harm.
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
