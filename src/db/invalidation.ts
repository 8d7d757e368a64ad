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
  /** Plans or models: everything cached is read again. */
  | { kind: 'catalog' };

export function encodeInvalidation(change: Invalidation): string {
  if (change.kind === 'catalog') return 'catalog';
  if (change.kind === 'account') return `account:${change.id}`;
  return `${change.kind}:${change.id}:${change.accountId}`;
}

/** Undefined for a payload that this build doesn't know. */
export function decodeInvalidation(payload: string): Invalidation | undefined {
  if (payload === 'catalog') return { kind: 'catalog' };
  const [kind, id, accountId = ''] = payload.split(':');
  if (kind === 'account' && id) return { kind, id };
  // Without its account: said by an older build.
  if ((kind === 'key' || kind === 'widget') && id) return { kind, id, accountId };
  return undefined;
}

/** Notifies every edge of a change when the current transaction commits. */
export async function notifyInvalidation(em: EntityManager, change: Invalidation): Promise<void> {
  await sql`select pg_notify(${INVALIDATION_CHANNEL}, ${encodeInvalidation(change)})`.execute(em.getKysely());
}

/**
 * Sessions of an account may have ended: log-out, password, role, disabling, deletion. The payload is its id. Whoever
 * holds a connection open on the strength of a session looks at it again.
 */
export const SESSIONS_CHANNEL = 'gateway_sessions';

/** Notifies when the current transaction commits. */
export async function notifySessions(em: EntityManager, accountId: string): Promise<void> {
  await sql`select pg_notify(${SESSIONS_CHANNEL}, ${accountId})`.execute(em.getKysely());
}

/** A prompt of an account was made, changed or deleted. The payload is the account's id. */
export const PROMPTS_CHANNEL = 'gateway_prompts';

/** Says so at the commit of the current transaction. */
export async function notifyPrompts(em: EntityManager, accountId: string): Promise<void> {
  await sql`select pg_notify(${PROMPTS_CHANNEL}, ${accountId})`.execute(em.getKysely());
}

/**
 * Usage was committed: sent by the edge after the commit, outside of the transaction, over PostgreSQL or Redis. The
 * payload names accounts, never what they used.
 */
export const USAGE_FLUSHED_CHANNEL = 'usage_flushed';

/**
 * Alerts fired: sent by the edge after the commit. The payload names accounts as above. Rare enough to go over PostgreSQL
 * always, which whoever delivers listens to anyway.
 */
export const ALERT_FIRED_CHANNEL = 'alert_fired';

/**
 * Calls were refused and are counted: sent by the edge after the commit, at most once a second, always over PostgreSQL. The
 * payload names accounts as above.
 */
export const REFUSED_CALLS_CHANNEL = 'refused_calls';

const EVERYBODY = '*';
/** PostgreSQL takes payloads below 8,000 bytes. */
const MAX_PAYLOAD_BYTES = 7_000;

export function encodeFlushed(accountIds: Iterable<string>): string {
  const list = [...accountIds].join(',');
  return list.length > MAX_PAYLOAD_BYTES ? EVERYBODY : list;
}

/** The accounts of a payload; null: all may be concerned. */
export function decodeFlushed(payload: string): string[] | null {
  return payload === EVERYBODY ? null : payload.split(',').filter(Boolean);
}

/**
 * An alert waits for its delivery: sent by the edge after the commit, and by the platform for tests and repetitions. The
 * payload says nothing. Whoever delivers looks every second anyway.
 */
export const ALERT_PENDING_CHANNEL = 'alert_pending';

/** Hourly figures of models have changed, at the commit of a roll-up. The payload says nothing. */
export const MODEL_HOURS_CHANNEL = 'model_hours';

/** Runs of the model playground are to end: sent inside the transaction that says so. The payload is their ids. */
export const PLAYGROUND_CANCEL_CHANNEL = 'playground_cancel';

/** Nodes were registered, changed or deleted, or their health has changed. The payload says nothing. */
export const NODES_CHANNEL = 'gateway_nodes';

/**
 * What is known of nodes has changed in a way that steers no call: a heartbeat came, a proxy counts other calls in flight. The
 * payload says nothing. For whoever shows nodes; they listen to `NODES_CHANNEL` too.
 */
export const NODE_NEWS_CHANNEL = 'gateway_node_news';

/** Says so at the commit of the current transaction, or at once outside of one. */
export async function notifyNodeNews(em: EntityManager): Promise<void> {
  await sql`select pg_notify(${NODE_NEWS_CHANNEL}, '')`.execute(em.getKysely());
}

/** Notifies every process that routes when the transaction commits. */
export async function notifyNodes(em: EntityManager): Promise<void> {
  await sql`select pg_notify(${NODES_CHANNEL}, '')`.execute(em.getKysely());
}
