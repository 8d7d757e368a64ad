import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';

/**
 * Changes of keys, accounts, plans and models reach every edge over one NOTIFY channel. The payload names what
 * changed, never its content. Sent inside the changing transaction, so that it arrives after the commit.
 * Never sent by the usage path: NOTIFY takes a lock that all commits share.
 */
export const INVALIDATION_CHANNEL = 'gateway_invalidate';

export type Invalidation =
  | { kind: 'account'; id: string }
  | { kind: 'key'; id: string }
  /** Plans or models: everything cached is read again. */
  | { kind: 'catalog' };

export function encodeInvalidation(change: Invalidation): string {
  return change.kind === 'catalog' ? 'catalog' : `${change.kind}:${change.id}`;
}

/** Undefined for a payload that this build doesn't know. */
export function decodeInvalidation(payload: string): Invalidation | undefined {
  if (payload === 'catalog') return { kind: 'catalog' };
  const [kind, id] = payload.split(':', 2);
  if ((kind === 'account' || kind === 'key') && id) return { kind, id };
  return undefined;
}

/** Tells every edge what changed, at the commit of the current transaction. */
export async function notifyInvalidation(em: EntityManager, change: Invalidation): Promise<void> {
  await sql`select pg_notify(${INVALIDATION_CHANNEL}, ${encodeInvalidation(change)})`.execute(em.getKysely());
}
