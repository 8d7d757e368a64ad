import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';

/**
 * Changes of keys, widgets, accounts, plans and models reach every edge over one NOTIFY channel. The payload names what
 * changed, never its content. Sent inside the changing transaction, so that it arrives after the commit.
 * Never sent by the usage path: NOTIFY takes a lock that all commits share.
 */
export const INVALIDATION_CHANNEL = 'gateway_invalidate';

export type Invalidation =
  | { kind: 'account'; id: string }
  | { kind: 'key'; id: string; accountId: string }
  | { kind: 'widget'; id: string; accountId: string }
  /** Plans or models changed: all cached rows are read again. */
  | { kind: 'catalog' };

export function encodeInvalidation(change: Invalidation): string {
  if (change.kind === 'catalog') return 'catalog';
  if (change.kind === 'account') return `account:${change.id}`;
  return `${change.kind}:${change.id}:${change.accountId}`;
}

/** Parses a payload; undefined if this build doesn't know it. */
export function decodeInvalidation(payload: string): Invalidation | undefined {
  if (payload === 'catalog') return { kind: 'catalog' };
  const [kind, id, accountId = ''] = payload.split(':');
  if (kind === 'account' && id) return { kind, id };
  // Without the account: sent by an older build.
  if ((kind === 'key' || kind === 'widget') && id) return { kind, id, accountId };
  return undefined;
}

/** Notifies every edge of a change when the current transaction commits. */
export async function notifyInvalidation(em: EntityManager, change: Invalidation): Promise<void> {
  await sql`select pg_notify(${INVALIDATION_CHANNEL}, ${encodeInvalidation(change)})`.execute(em.getKysely());
}

/**
 * Sessions of an account may have ended: log-out, password, role, disabling, deletion. The payload is the account's id. The
 * session of each open socket is then checked again.
 */
export const SESSIONS_CHANNEL = 'gateway_sessions';

/** Notifies when the current transaction commits. */
export async function notifySessions(em: EntityManager, accountId: string): Promise<void> {
  await sql`select pg_notify(${SESSIONS_CHANNEL}, ${accountId})`.execute(em.getKysely());
}

/** A prompt of an account was created, changed or deleted. The payload is the account's id. */
export const PROMPTS_CHANNEL = 'gateway_prompts';

/** Notifies when the current transaction commits. */
export async function notifyPrompts(em: EntityManager, accountId: string): Promise<void> {
  await sql`select pg_notify(${PROMPTS_CHANNEL}, ${accountId})`.execute(em.getKysely());
}

/**
 * Usage was committed: sent by the edge after the commit, outside of the transaction, over PostgreSQL or Redis. The
 * payload names accounts, never what they used.
 */
export const USAGE_FLUSHED_CHANNEL = 'usage_flushed';

/**
 * Alerts fired: sent by the edge after the commit. The payload names accounts as above. Rare enough to be always sent over
 * PostgreSQL.
 */
export const ALERT_FIRED_CHANNEL = 'alert_fired';

/**
 * Refused calls were counted: sent by the edge after the commit, at most once a second, always over PostgreSQL. The payload
 * names accounts as above.
 */
export const REFUSED_CALLS_CHANNEL = 'refused_calls';

const EVERYBODY = '*';
/** PostgreSQL accepts payloads below 8,000 bytes. */
const MAX_PAYLOAD_BYTES = 7_000;

export function encodeFlushed(accountIds: Iterable<string>): string {
  const list = [...accountIds].join(',');
  return list.length > MAX_PAYLOAD_BYTES ? EVERYBODY : list;
}

/** Parses the accounts of a payload; null if any account may be concerned. */
export function decodeFlushed(payload: string): string[] | null {
  return payload === EVERYBODY ? null : payload.split(',').filter(Boolean);
}

/**
 * An alert waits for delivery: sent by the edge after the commit, and by the platform for tests and repetitions. The payload
 * is empty. The delivery looks every second anyway.
 */
export const ALERT_PENDING_CHANNEL = 'alert_pending';

/** A roll-up committed hourly figures of models. The payload is empty. */
export const MODEL_HOURS_CHANNEL = 'model_hours';

/** Runs of the model playground were cancelled: sent inside that transaction. The payload is their ids. */
export const PLAYGROUND_CANCEL_CHANNEL = 'playground_cancel';

/** Nodes were registered, changed or deleted, or their health changed. The payload is empty. */
export const NODES_CHANNEL = 'gateway_nodes';

/**
 * News of nodes that don't affect routing, such as heartbeats and calls in flight. The payload is empty. Screens of nodes
 * listen to this channel and to `NODES_CHANNEL`.
 */
export const NODE_NEWS_CHANNEL = 'gateway_node_news';

/** Notifies when the current transaction commits, or at once outside of a transaction. */
export async function notifyNodeNews(em: EntityManager): Promise<void> {
  await sql`select pg_notify(${NODE_NEWS_CHANNEL}, '')`.execute(em.getKysely());
}

/** Notifies every process that routes when the transaction commits. */
export async function notifyNodes(em: EntityManager): Promise<void> {
  await sql`select pg_notify(${NODES_CHANNEL}, '')`.execute(em.getKysely());
}
