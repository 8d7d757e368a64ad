import { defineEntity, p } from '@mikro-orm/core';
import type { GuardAction } from '../keys/key-guard.js';
import type { AlertKind } from './alert-subscription.js';

export type AlertPurpose = 'threshold' | 'test' | 'low_balance' | 'guard';
export type DeliveryStatus = 'pending' | 'sent' | 'failed' | 'degraded';

/**
 * A notification to one destination: the outbox of deliveries and their record. It outlives its key and subscription,
 * and therefore contains everything that a delivery says.
 */
const AlertEventSchema = defineEntity({
  name: 'AlertEvent',
  tableName: 'alert_events',
  indexes: [
    {
      name: 'alert_events_waiting',
      properties: ['kind', 'accountId', 'lane', 'nextAttemptAt'],
      where: `delivery_status = 'pending'`,
    },
    {
      name: 'alert_events_key',
      columns: [{ name: 'key_id' }, { name: 'fired_at', sort: 'desc' }, { name: 'id', sort: 'desc' }],
    },
    {
      name: 'alert_events_account',
      columns: [{ name: 'account_id' }, { name: 'fired_at', sort: 'desc' }, { name: 'id', sort: 'desc' }],
    },
  ],
  uniques: [
    {
      name: 'alert_events_once',
      properties: ['subscriptionId', 'keyId', 'billingMonth', 'thresholdPct'],
      where: `purpose = 'threshold'`,
    },
  ],
  properties: {
    /** Also the id of the delivery; the same in every attempt. */
    id: p.uuid().primary(),
    accountId: p.uuid(),
    /** Null for a low balance, which concerns no key. */
    keyId: p.uuid().nullable(),
    /** Null for a low balance, and for the guard of a key without active subscriptions. */
    subscriptionId: p.uuid().nullable(),
    purpose: p.text().$type<AlertPurpose>(),
    kind: p.text().$type<AlertKind>(),
    destination: p.text(),
    keyName: p.text().nullable(),
    /** Leading and trailing characters of the key, joined by an ellipsis. */
    keyPrefix: p.text().nullable(),
    thresholdPct: p.smallint().nullable(),
    /** `YYYY-MM`. */
    billingMonth: p.text().nullable(),
    /** Month-to-date spend and limit of the key at that time, dollars. */
    spend: p.decimal().precision(24).scale(12).nullable(),
    monthlyLimit: p.decimal().precision(24).scale(12).nullable(),
    /** What the guard of the key did at this percentage, and the model that its calls use since, if any. */
    guardAction: p.text().$type<GuardAction>().nullable(),
    guardModelPublicName: p.text().nullable(),
    /** Of the account, dollars; low balance only. */
    balance: p.decimal().precision(24).scale(12).nullable(),
    /** Identifies the receiver: a hash of scheme, host and port; 0 for all emails. */
    lane: p
      .bigint()
      .generated(
        `(case kind when 'email' then 0 else hashtextextended(coalesce(lower(substring(destination, '^[^/]*//[^/?#]*')), destination), 0) end) stored`,
      ),
    firedAt: p.datetime(6),
    /** ID of the transaction that wrote the event, for live readers. */
    createdIn: p.string().columnType('xid8').defaultRaw('pg_current_xact_id()'),
    deliveryStatus: p.text().$type<DeliveryStatus>().default('pending'),
    /** In the current series. */
    attempts: p.smallint().default(0),
    /** Number of redeliveries. */
    redeliveries: p.integer().default(0),
    responseCode: p.integer().nullable(),
    errorMessage: p.text().nullable(),
    /** Time when it fired or was redelivered. */
    pendingSince: p.datetime(6),
    /** Set only while pending. */
    nextAttemptAt: p.datetime(6).nullable(),
    /** Raised each time the event is taken: holders with an older token can't write. */
    leaseToken: p.bigint().defaultRaw('0'),
    leasedUntil: p.datetime(6).nullable(),
    finishedAt: p.datetime(6).nullable(),
  },
});

export class AlertEvent extends AlertEventSchema.class {}
AlertEventSchema.setClass(AlertEvent);
