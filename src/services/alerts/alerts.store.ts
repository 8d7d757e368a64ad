import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { UNTRACKED } from '../../db/untracked.js';
import { Account } from '../../entities/accounts/account.js';
import { type AlertKind, AlertSubscription } from '../../entities/alerts/alert-subscription.js';
import { formatTimestamp } from '../../lib/clock.js';
import type { PageInput } from '../../lib/page-input.js';
import type { AlertOutput } from './alerts.outputs.js';

const toAlert = (alert: AlertSubscription): AlertOutput => ({
  id: alert.id,
  key_id: alert.keyId,
  kind: alert.kind,
  destination: alert.destination,
  thresholds_pct: alert.thresholdsPct,
  active: alert.active,
  disabled_reason: alert.disabledReason ?? null,
  created_at: formatTimestamp(alert.createdAt.getTime()),
  updated_at: formatTimestamp(alert.updatedAt.getTime()),
});

/** One subscription as its owner names it. Both ids must be UUIDs. */
export interface OwnAlert {
  accountId: string;
  keyId: string;
  id: string;
}

/** Subscriptions of those keys that belong to the account, newest first; all, or one page. */
export async function listAlerts(
  em: EntityManager,
  { accountId, keyIds, ...page }: { accountId: string; keyIds: readonly string[] } & Partial<PageInput>,
): Promise<AlertOutput[]> {
  const alerts = await em.find(
    AlertSubscription,
    { keyId: { $in: [...keyIds] }, accountId },
    { ...UNTRACKED, orderBy: { createdAt: 'desc', id: 'desc' }, ...page },
  );
  return alerts.map(toAlert);
}

/**
 * The number of subscriptions of the account's key; undefined for an unknown key. Locks the key, so that nobody adds
 * one until the transaction ends.
 */
export async function countLockedAlerts(
  em: EntityManager,
  { accountId, keyId }: Omit<OwnAlert, 'id'>,
): Promise<number | undefined> {
  const key = await sql`
    select 1 from api_keys where id = ${keyId} and account_id = ${accountId} for no key update`.execute(
    em.getKysely(),
  );
  return key.rows.length === 0 ? undefined : em.count(AlertSubscription, { keyId });
}

export interface NewAlert extends OwnAlert {
  kind: AlertKind;
  destination: string;
  thresholdsPct: number[];
  active: boolean;
  signingSecretSealed: string | null;
  now: Date;
}

export async function insertAlert(em: EntityManager, { now, ...alert }: NewAlert): Promise<AlertOutput> {
  const made = em.create(AlertSubscription, { ...alert, createdAt: now, updatedAt: now });
  await em.flush();
  return toAlert(made);
}

export async function alertKind(em: EntityManager, alert: OwnAlert): Promise<AlertKind | undefined> {
  return (await em.findOne(AlertSubscription, { ...alert }, { ...UNTRACKED, fields: ['kind'] }))?.kind;
}

/** The subscription, locked until the transaction ends. Changes to the entity are written at the end. */
export function lockAlert(em: EntityManager, alert: OwnAlert): Promise<AlertSubscription | null> {
  return em.findOne(AlertSubscription, { ...alert }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

export interface AlertChange {
  destination?: string | undefined;
  thresholdsPct?: number[] | undefined;
  active?: boolean | undefined;
  now: Date;
}

/** Changes the given fields. Switching a subscription on or changing its destination restarts its firings. */
export async function changeAlert(
  em: EntityManager,
  alert: OwnAlert,
  { destination, thresholdsPct, active, now }: AlertChange,
): Promise<AlertOutput | undefined> {
  const [changed] = await em
    .createQueryBuilder(AlertSubscription)
    .update({
      ...(destination !== undefined && { destination }),
      ...(thresholdsPct !== undefined && { thresholdsPct }),
      ...(active !== undefined && { active }),
      ...((active || destination !== undefined) && { disabledReason: null }),
      updatedAt: now,
    })
    .where({ ...alert })
    .returning('*')
    .execute('all');
  return changed && toAlert(em.map(AlertSubscription, changed as object, { ...UNTRACKED, mapped: true }));
}

/** False when there was no such subscription. */
export async function deleteAlert(em: EntityManager, alert: OwnAlert): Promise<boolean> {
  return (await em.nativeDelete(AlertSubscription, { ...alert })) > 0;
}

/** The low-balance threshold in dollars; null if the alert is off, undefined for a deleted account. */
export async function lowBalanceThreshold(
  em: EntityManager,
  accountId: string,
): Promise<string | null | undefined> {
  const living = { id: accountId, deletedAt: null };
  const account = await em.findOne(Account, living, { ...UNTRACKED, fields: ['lowBalanceThresholdUsd'] });
  return account?.lowBalanceThresholdUsd;
}

/**
 * Sets the threshold. A balance that is already below it hasn't crossed it, so the alert fires when the balance was
 * raised and falls again. Only a credit arms a fired alert again; changing the threshold doesn't.
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
