import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { AlertPurpose } from '../../entities/alerts/alert-event.js';
import type { AlertKind } from '../../entities/alerts/alert-subscription.js';

/** An alert event that this process holds until its lease ends. */
export interface TakenAlert {
  /** Also the id of the delivery. */
  id: string;
  /** Who holds an older one may not write. */
  token: string;
  accountId: string;
  subscriptionId: string | null;
  purpose: AlertPurpose;
  kind: AlertKind;
  destination: string;
  /** What shares a limit on deliveries at once: scheme, host and port of a webhook; all mail is one. */
  lane: string;
  keyId: string | null;
  keyName: string | null;
  keyPrefix: string | null;
  thresholdPct: number | null;
  billingMonth: string | null;
  /** Dollars, as the database writes them. */
  spend: string | null;
  monthlyLimit: string | null;
  balance: string | null;
  firedAtMs: number;
  pendingSinceMs: number;
  /** Attempts that were begun, those of dead processes included. */
  attempts: number;
  redeliveries: number;
  signingSecretSealed: string | null;
  /** Whether account and subscription still exist. */
  wanted: boolean;
}

/** How many deliveries may run at once in this process, and how many do. */
export interface Room {
  total: number;
  perLane: number;
  perAccount: number;
  running: readonly Pick<TakenAlert, 'lane' | 'accountId'>[];
}

/** Due alerts beyond so many wait for the next look: what one look costs has a bound. */
const LOOK_AT = 1_000;

const lane = sql<string>`case e.kind when 'email' then 'email'
  else coalesce(lower(substring(e.destination from '^[^/]*//[^/?#]*')), e.destination) end`;

/**
 * Takes due alerts for `leaseMs`: new ones, and those whose holder's lease has ended. Two takers never get the same
 * one. No lane and no account gets more than its share, so that a receiver that hangs delays nobody else.
 */
export async function takeDueAlerts(em: EntityManager, room: Room, leaseMs: number): Promise<TakenAlert[]> {
  const free = room.total - room.running.length;
  if (free <= 0) return [];
  const { rows } = await sql<TakenAlert>`
    with running as materialized (
      select * from unnest(${room.running.map((one) => one.lane)}::text[],
        ${room.running.map((one) => one.accountId)}::uuid[]) as r(lane, account_id)
    ), lanes as (select lane, count(*) as n from running group by 1),
    payers as (select account_id, count(*) as n from running group by 1),
    due as materialized (
      select e.id, e.account_id, ${lane} as lane, e.next_attempt_at from alert_events e
      where e.delivery_status = 'pending' and e.next_attempt_at <= now()
        and ${lane} not in (select lane from lanes where n >= ${room.perLane})
        and e.account_id not in (select account_id from payers where n >= ${room.perAccount})
      order by e.next_attempt_at, e.id limit ${LOOK_AT}
    ), shared as (
      select id, next_attempt_at,
        row_number() over (partition by lane order by next_attempt_at, id)
          + coalesce((select n from lanes l where l.lane = due.lane), 0) as in_lane,
        row_number() over (partition by account_id order by next_attempt_at, id)
          + coalesce((select n from payers p where p.account_id = due.account_id), 0) as of_account
      from due
    ), taken as (
      select e.id from alert_events e
      where e.id in (select id from shared where in_lane <= ${room.perLane} and of_account <= ${room.perAccount}
          order by next_attempt_at, id limit ${free})
        and e.delivery_status = 'pending' and e.next_attempt_at <= now()
      for update skip locked
    )
    update alert_events e
    set lease_token = e.lease_token + 1, leased_until = now() + ${leaseMs} * interval '1 millisecond',
      next_attempt_at = now() + ${leaseMs} * interval '1 millisecond'
    from taken left join alert_events t on t.id = taken.id
      left join alert_subscriptions s on s.id = t.subscription_id
      left join accounts a on a.id = t.account_id and a.deleted_at is null
    where e.id = taken.id
    returning e.id, e.lease_token::text as token, e.account_id as "accountId",
      e.subscription_id as "subscriptionId", e.purpose, e.kind, e.destination, ${lane} as lane,
      e.key_id as "keyId", e.key_name as "keyName", e.key_prefix as "keyPrefix",
      e.threshold_pct::int as "thresholdPct", e.billing_month as "billingMonth", e.spend::text,
      e.monthly_limit::text as "monthlyLimit", e.balance::text,
      (extract(epoch from e.fired_at) * 1000)::float8 as "firedAtMs",
      (extract(epoch from e.pending_since) * 1000)::float8 as "pendingSinceMs", e.attempts::int, e.redeliveries,
      s.signing_secret_sealed as "signingSecretSealed",
      a.id is not null and (e.subscription_id is null or s.id is not null) as wanted`.execute(em.getKysely());
  return rows;
}

/** What names a taking. */
export type Hold = Pick<TakenAlert, 'id' | 'token'>;

const held = ({ id, token }: Hold) =>
  sql`id = ${id} and lease_token = ${token} and delivery_status = 'pending'`;

/**
 * Counts an attempt that is about to be made, before it is made: whatever happens to this process, no more than
 * `maxAttempts` ever go out.
 * @returns its number; null when there is none to make: the lease has ended, or somebody else holds the alert.
 */
export async function beginAttempt(
  em: EntityManager,
  hold: Hold,
  maxAttempts: number,
): Promise<number | null> {
  const { rows } = await sql<{ attempts: number }>`
    update alert_events set attempts = attempts + 1
    where ${held(hold)} and leased_until > now() and attempts < ${maxAttempts}
    returning attempts::int as attempts`.execute(em.getKysely());
  return rows[0]?.attempts ?? null;
}

export interface AlertEnd {
  status: 'sent' | 'failed' | 'degraded';
  responseCode: number | null;
  error: string | null;
}

/**
 * Records the end of a delivery.
 * @returns false when somebody else has taken the alert meanwhile: nothing is written then.
 */
export async function finishAlert(em: EntityManager, hold: Hold, end: AlertEnd): Promise<boolean> {
  const { rows } = await sql`
    update alert_events set delivery_status = ${end.status}, response_code = ${end.responseCode},
      error_message = ${end.error}, next_attempt_at = null, leased_until = null, finished_at = now()
    where ${held(hold)} returning id`.execute(em.getKysely());
  return rows.length > 0;
}

/** Gives a delivery back after `pauseMs`, unfinished, to whoever takes it. */
export async function releaseAlert(em: EntityManager, hold: Hold, pauseMs: number): Promise<void> {
  await sql`
    update alert_events set leased_until = null, next_attempt_at = now() + ${pauseMs} * interval '1 millisecond'
    where ${held(hold)}`.execute(em.getKysely());
}

/** Switches a subscription off, unless its destination has changed since. */
export async function disableSubscription(
  em: EntityManager,
  { id, destination, reason }: { id: string; destination: string; reason: string },
): Promise<void> {
  await sql`
    update alert_subscriptions set active = false, disabled_reason = ${reason}, updated_at = now()
    where id = ${id} and destination = ${destination} and active`.execute(em.getKysely());
}

/** Alerts that wait for their delivery, those in flight included. */
export async function countPendingAlerts(em: EntityManager): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from alert_events where delivery_status = 'pending'`.execute(em.getKysely());
  return rows[0]!.n;
}
