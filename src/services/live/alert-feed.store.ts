import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { type AlertEventRow, alertEventColumns, toAlertEvent } from '../alerts/alert-events.store.js';
import type { AlertEventOutput } from '../alerts/alerts.outputs.js';
import { andBehind, type FeedPosition } from './feed-page.store.js';

/** Longest time from the start of a transaction to its commit: all of ours have shorter limits. */
const LONGEST_TRANSACTION = '10 minutes';

/** The state of committed alerts at one instant. */
export interface AlertInstant {
  /** PostgreSQL's snapshot. */
  snapshot: string;
  /** Milliseconds, by PostgreSQL's clock. */
  atMs: number;
}

const instant = sql`pg_current_snapshot()::text as snapshot, (extract(epoch from now()) * 1000)::float8 as "atMs"`;

/** The current state. */
export async function alertInstant(em: EntityManager): Promise<AlertInstant> {
  const { rows } = await sql<AlertInstant>`select ${instant}`.execute(em.getKysely());
  return rows[0]!;
}

interface FreshAlertsQuery {
  accountId: string;
  /** Alerts committed by then are known. */
  seen: AlertInstant;
  limit: number;
  /** Start of a further page. */
  rest?: FeedPosition | undefined;
}

interface FreshAlerts extends AlertInstant {
  events: AlertEventOutput[];
  /** Position of the next page; undefined after the last one. */
  rest?: FeedPosition;
}

/**
 * Alerts of an account that fired in transactions invisible to `seen`, oldest first. Deliveries don't affect them.
 */
export async function freshAlerts(
  em: EntityManager,
  { accountId, seen, limit, rest }: FreshAlertsQuery,
): Promise<FreshAlerts> {
  const columns = { writer: sql`e.created_in`, at: sql`e.fired_at`, id: sql`e.id` };
  const { rows } = await sql<AlertInstant & (AlertEventRow | { id: null })>`
    select ${instant}, fresh.*
    from (select 1) one left join (
      select ${alertEventColumns} from alert_events e
      where e.account_id = ${accountId} and e.purpose <> 'test'
        and e.fired_at > timestamptz 'epoch' + ${seen.atMs}::float8 * interval '1 millisecond' - ${LONGEST_TRANSACTION}::interval
        and not pg_visible_in_snapshot(e.created_in, ${seen.snapshot}::pg_snapshot) ${andBehind(rest, columns)}
      order by e.fired_at, e.id limit ${limit}
    ) fresh on true
    order by fresh.fired_us::bigint, fresh.id`.execute(em.getKysely());
  const { snapshot, atMs } = rows[0]!;
  const found = rows.flatMap(({ snapshot: _snapshot, atMs: _atMs, ...row }) =>
    row.id === null ? [] : [row],
  );
  const events = found.map(toAlertEvent);
  const last = found.at(-1);
  if (!last || found.length < limit) return { snapshot, atMs, events };
  const position = { upTo: rest?.upTo ?? snapshot, afterUs: last.fired_us, afterId: last.id };
  return { snapshot, atMs, events, rest: position };
}
