import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { ALERT_FIRED_CHANNEL, ALERT_PENDING_CHANNEL } from '../../db/invalidation.js';
import { KeyGuard } from '../../entities/keys/key-guard.js';
import { MAX_MAILS_PER_MONTH, TOO_MANY_MAILS } from '../../metering/flush.store.js';
import type { KeyGuardInput } from './keys.inputs.js';

/** Sets a key's guard, which may act again this month; null removes it. */
export async function setGuard(em: EntityManager, keyId: string, guard: KeyGuardInput | null): Promise<void> {
  if (guard === null) {
    await em.nativeDelete(KeyGuard, { keyId });
    return;
  }
  await em.upsert(KeyGuard, {
    keyId,
    atPct: guard.at_pct,
    action: guard.action,
    modelPublicName: guard.model_public_name ?? null,
    actedMonth: null,
    actedAt: null,
    undone: false,
  });
}

/** Rearms a key's guard when its monthly limit is removed, so that it can act again under a new limit. An undone guard stays undone. */
export async function rearmGuard(em: EntityManager, keyId: string): Promise<void> {
  await em.nativeUpdate(KeyGuard, { keyId, undone: false }, { actedMonth: null, actedAt: null });
}

/**
 * Lets the guard of a key act at once if the key's spend of the month (`YYYY-MM`) has reached it. Needs a transaction
 * that holds the lock of the account.
 */
export async function triggerGuard(em: EntityManager, keyId: string, month: string): Promise<void> {
  const db = em.getKysely();
  const { rows } = await sql<{ alerted: string | null }>`
    select act_guards(array[${keyId}::uuid], array[${month}], ${MAX_MAILS_PER_MONTH}, ${TOO_MANY_MAILS}) as alerted`.execute(
    db,
  );
  const alerted = rows[0]?.alerted;
  if (!alerted) return;
  await sql`
    select pg_notify(${ALERT_PENDING_CHANNEL}, ''), pg_notify(${ALERT_FIRED_CHANNEL}, ${alerted})`.execute(
    db,
  );
}

/**
 * Undoes what the guard of a key did in a month (`YYYY-MM`); it doesn't act again in that month. False if it hasn't
 * acted.
 */
export async function undoGuardAction(em: EntityManager, keyId: string, month: string): Promise<boolean> {
  const done = { keyId, actedMonth: month, undone: false };
  return (await em.nativeUpdate(KeyGuard, done, { undone: true })) > 0;
}
