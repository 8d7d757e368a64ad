import { raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { UNTRACKED } from '../../db/untracked.js';
import { AlertEvent, type AlertPurpose } from '../../entities/alerts/alert-event.js';
import { type AlertKind, AlertSubscription } from '../../entities/alerts/alert-subscription.js';
import type { GuardAction } from '../../entities/keys/key-guard.js';

/** An alert event that this process holds until its lease ends. */
export interface TakenAlert {
  /** Also used as the delivery id. */
  id: string;
  /** Fencing token: a holder with an older token can't write. */
  token: string;
  accountId: string;
  subscriptionId: string | null;
  purpose: AlertPurpose;
  kind: AlertKind;
  destination: string;
  /** Hash of the receiver's scheme, host and port; all emails share one lane. */
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
  /** What the guard of the key did at this percentage, and the model that its calls use since. */
  guardAction: GuardAction | null;
  guardModel: string | null;
  firedAtMs: number;
  pendingSinceMs: number;
  /** Attempts begun, including those of dead processes. */
  attempts: number;
  redeliveries: number;
  signingSecretSealed: string | null;
}

/** Identifies one lease of an event. */
export type Hold = Pick<TakenAlert, 'id' | 'token'>;

const held = ({ id, token }: Hold) =>
  sql`id = ${id} and lease_token = ${token} and delivery_status = 'pending'`;

/** Whether the account of event `e` is active and its subscription exists; checked in each attempt. */
const wanted = sql<boolean>`exists (
    select from accounts a where a.id = e.account_id and a.status = 'active' and a.deleted_at is null)
  and (e.subscription_id is null or exists (select from alert_subscriptions s where s.id = e.subscription_id))`;

/** Whether its subscription is off. Requested deliveries are sent all the same. */
const turnedOff = sql<boolean>`e.purpose <> 'test' and e.redeliveries = 0 and exists (
    select from alert_subscriptions s where s.id = e.subscription_id and not s.active)`;

/**
 * Counts an attempt before it is made: even if this process dies, no more than `maxAttempts` are ever made.
 * @returns its number; `unwanted` when the account or subscription is gone or the account is disabled; `turned off`
 * when the subscription is off; null when the lease has ended or another process holds the alert.
 */
export async function beginAttempt(
  em: EntityManager,
  hold: Hold,
  maxAttempts: number,
): Promise<number | 'unwanted' | 'turned off' | null> {
  const db = em.getKysely();
  const { rows } = await sql<{ attempts: number }>`
    update alert_events e set attempts = attempts + 1
    where ${held(hold)} and leased_until > now() and attempts < ${maxAttempts} and ${wanted} and not (${turnedOff})
    returning attempts::int as attempts`.execute(db);
  if (rows[0]) return rows[0].attempts;
  const left = await sql<{ unwanted: boolean; off: boolean }>`
    select not (${wanted}) as unwanted, ${turnedOff} as off from alert_events e
    where ${held(hold)} and leased_until > now() and attempts < ${maxAttempts}`.execute(db);
  if (left.rows[0]?.unwanted) return 'unwanted';
  return left.rows[0]?.off ? 'turned off' : null;
}

/**
 * The current signing secrets of an alert's subscription; its owner may have rotated them since the alert was taken.
 */
export async function sealedSecretsOf(
  em: EntityManager,
  { subscriptionId }: Pick<TakenAlert, 'subscriptionId'>,
): Promise<string | null> {
  if (subscriptionId === null) return null;
  const found = await em.findOne(AlertSubscription, { id: subscriptionId }, UNTRACKED);
  return found?.signingSecretSealed ?? null;
}

/** Uncounts an attempt that wasn't made. */
export async function uncountAttempt(em: EntityManager, hold: Hold): Promise<void> {
  await sql`update alert_events e set attempts = attempts - 1 where ${held(hold)}`.execute(em.getKysely());
}

export interface AlertEnd {
  status: 'sent' | 'failed' | 'degraded';
  responseCode: number | null;
  error: string | null;
}

/**
 * Records the outcome of a delivery.
 * @returns false, with nothing written, if another process has taken over the alert.
 */
export async function finishAlert(em: EntityManager, hold: Hold, end: AlertEnd): Promise<boolean> {
  const { rows } = await sql`
    update alert_events set delivery_status = ${end.status}, response_code = ${end.responseCode},
      error_message = ${end.error}, next_attempt_at = null, leased_until = null, finished_at = now()
    where ${held(hold)} returning id`.execute(em.getKysely());
  return rows.length > 0;
}

/** Releases an unfinished delivery; it becomes due again after `pauseMs`. */
export async function releaseAlert(em: EntityManager, hold: Hold, pauseMs: number): Promise<void> {
  await sql`
    update alert_events set leased_until = null, next_attempt_at = now() + ${pauseMs} * interval '1 millisecond'
    where ${held(hold)}`.execute(em.getKysely());
}

/** Switches a subscription off, unless its destination has changed in between. */
export async function disableSubscription(
  em: EntityManager,
  { id, destination, reason }: { id: string; destination: string; reason: string },
): Promise<void> {
  await em.nativeUpdate(
    AlertSubscription,
    { id, destination, active: true },
    { active: false, disabledReason: reason, updatedAt: raw('now()') },
  );
}

/** The number of undelivered alerts, including those being delivered. */
export function countPendingAlerts(em: EntityManager): Promise<number> {
  return em.count(AlertEvent, { deliveryStatus: 'pending' });
}
