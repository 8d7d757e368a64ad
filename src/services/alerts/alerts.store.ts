import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import type { AlertKind } from '../../entities/alerts/alert-subscription.js';
import { formatTimestamp } from '../../lib/clock.js';
import type { AlertOutput } from './alerts.outputs.js';

interface Row extends Omit<AlertOutput, 'created_at' | 'updated_at'> {
  created_ms: number;
  updated_ms: number;
}

const columns = sql`s.id, s.key_id, s.kind, s.destination, s.thresholds_pct::int[] as thresholds_pct, s.active,
  s.disabled_reason, floor(extract(epoch from s.created_at) * 1000)::float8 as created_ms,
  floor(extract(epoch from s.updated_at) * 1000)::float8 as updated_ms`;

const toAlert = ({ created_ms, updated_ms, ...row }: Row): AlertOutput => ({
  ...row,
  created_at: formatTimestamp(created_ms),
  updated_at: formatTimestamp(updated_ms),
});

/** One subscription as its owner names it. Both ids must have the form of a UUID. */
export interface OwnAlert {
  accountId: string;
  keyId: string;
  id: string;
}

const own = ({ accountId, keyId, id }: OwnAlert): RawBuilder<boolean> =>
  sql<boolean>`s.id = ${id} and s.key_id = ${keyId} and s.account_id = ${accountId}`;

/** Subscriptions of those keys that are the account's, newest first. */
export async function listAlerts(
  em: EntityManager,
  { accountId, keyIds }: { accountId: string; keyIds: readonly string[] },
): Promise<AlertOutput[]> {
  const { rows } = await sql<Row>`
    select ${columns} from alert_subscriptions s
    where s.key_id = any(${keyIds}::uuid[]) and s.account_id = ${accountId}
    order by s.created_at desc, s.id desc`.execute(em.getKysely());
  return rows.map(toAlert);
}

/**
 * How many subscriptions a key of the account has; undefined for a key that isn't there. Until the transaction ends
 * nobody else adds one.
 */
export async function countLockedAlerts(
  em: EntityManager,
  { accountId, keyId }: Omit<OwnAlert, 'id'>,
): Promise<number | undefined> {
  const db = em.getKysely();
  const key = await sql`
    select 1 from api_keys where id = ${keyId} and account_id = ${accountId} for no key update`.execute(db);
  if (key.rows.length === 0) return undefined;
  const counted = await sql<{ n: number }>`
    select count(*)::int as n from alert_subscriptions where key_id = ${keyId}`.execute(db);
  return counted.rows[0]!.n;
}

export interface NewAlert extends OwnAlert {
  kind: AlertKind;
  destination: string;
  thresholdsPct: readonly number[];
  active: boolean;
  signingSecretSealed: string | null;
  now: Date;
}

export async function insertAlert(em: EntityManager, alert: NewAlert): Promise<AlertOutput> {
  const { rows } = await sql<Row>`
    insert into alert_subscriptions as s (id, account_id, key_id, kind, destination, thresholds_pct, active,
      signing_secret_sealed, created_at, updated_at)
    values (${alert.id}, ${alert.accountId}, ${alert.keyId}, ${alert.kind}, ${alert.destination},
      ${alert.thresholdsPct}::smallint[], ${alert.active}, ${alert.signingSecretSealed}, ${alert.now}, ${alert.now})
    returning ${columns}`.execute(em.getKysely());
  return toAlert(rows[0]!);
}

export async function alertKind(em: EntityManager, alert: OwnAlert): Promise<AlertKind | undefined> {
  const { rows } = await sql<{ kind: AlertKind }>`
    select s.kind from alert_subscriptions s where ${own(alert)}`.execute(em.getKysely());
  return rows[0]?.kind;
}

/** The sealed secret of a subscription (null: mail), locked until the transaction ends. */
export async function lockSigningSecret(
  em: EntityManager,
  alert: OwnAlert,
): Promise<{ sealed: string | null } | undefined> {
  const { rows } = await sql<{ sealed: string | null }>`
    select s.signing_secret_sealed as sealed from alert_subscriptions s where ${own(alert)} for update`.execute(
    em.getKysely(),
  );
  return rows[0];
}

export interface AlertChange {
  destination?: string | undefined;
  thresholdsPct?: readonly number[] | undefined;
  active?: boolean | undefined;
  now: Date;
}

/** Changes what is given. One that is switched on, or leads elsewhere, begins anew. */
export async function changeAlert(
  em: EntityManager,
  alert: OwnAlert,
  { destination, thresholdsPct, active, now }: AlertChange,
): Promise<AlertOutput | undefined> {
  const { rows } = await sql<Row>`
    update alert_subscriptions s set destination = coalesce(${destination ?? null}, destination),
      thresholds_pct = coalesce(${thresholdsPct ?? null}::smallint[], thresholds_pct),
      active = coalesce(${active ?? null}, active),
      disabled_reason = case when ${active ?? false} or ${destination !== undefined} then null else disabled_reason end,
      updated_at = ${now}
    where ${own(alert)} returning ${columns}`.execute(em.getKysely());
  return rows[0] && toAlert(rows[0]);
}

export async function setSigningSecret(em: EntityManager, alert: OwnAlert, sealed: string): Promise<void> {
  await sql`update alert_subscriptions s set signing_secret_sealed = ${sealed} where ${own(alert)}`.execute(
    em.getKysely(),
  );
}

/** False when there was none. */
export async function deleteAlert(em: EntityManager, alert: OwnAlert): Promise<boolean> {
  const { rows } = await sql`delete from alert_subscriptions s where ${own(alert)} returning s.id`.execute(
    em.getKysely(),
  );
  return rows.length > 0;
}

/** Dollars below which the account is told; null: never. Undefined for a deleted account. */
export async function lowBalanceThreshold(
  em: EntityManager,
  accountId: string,
): Promise<string | null | undefined> {
  const { rows } = await sql<{ threshold: string | null }>`
    select low_balance_threshold_usd::text as threshold from accounts
    where id = ${accountId} and deleted_at is null`.execute(em.getKysely());
  return rows[0]?.threshold;
}

/**
 * Sets it. A balance that is below already has crossed nothing: it is told when it was lifted and falls again. Nor does a
 * change arm what was told already: only a credit does.
 */
export async function setLowBalanceThreshold(
  em: EntityManager,
  accountId: string,
  threshold: string | null,
): Promise<void> {
  await sql`
    update accounts set low_balance_threshold_usd = ${threshold}::numeric,
      low_balance_armed = not low_balance_told and coalesce(balance >= ${threshold}::numeric, false)
    where id = ${accountId} and deleted_at is null`.execute(em.getKysely());
}
