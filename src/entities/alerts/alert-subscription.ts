import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../lib/ids.js';
import { ofAccount } from '../accounts/account.js';
import { ApiKey } from '../keys/api-key.js';
import { sketch } from '../sketch-columns.js';

export type AlertKind = 'email' | 'webhook';

/** A subscription to spend alerts of a key. Deleted with its key. */
const AlertSubscriptionSchema = defineEntity({
  name: 'AlertSubscription',
  tableName: 'alert_subscriptions',
  properties: {
    id: p.uuid().primary().onCreate(newId),
    accountId: () => ofAccount('alert_subscriptions_account_id_fkey'),
    keyId: () =>
      p
        .manyToOne(ApiKey)
        .mapToPk()
        .joinColumn('key_id')
        .foreignKeyName('alert_subscriptions_key_id_fkey')
        .deleteRule('cascade')
        .index('alert_subscriptions_key'),
    kind: p.text().$type<AlertKind>(),
    /** An email address or a URL. */
    destination: p.text(),
    /** 1 to 5 different percentages, ascending. */
    thresholdsPct: sketch('smallint[]'),
    active: p.boolean().default(true),
    /** Webhooks only: the secret that signs deliveries to this destination, sealed. */
    signingSecretSealed: p.text().nullable().hidden(),
    /** Why it was disabled automatically. */
    disabledReason: p.text().nullable(),
    createdAt: p.datetime(6).onCreate(() => new Date()),
    updatedAt: p.datetime(6).onCreate(() => new Date()),
  },
});

export class AlertSubscription extends AlertSubscriptionSchema.class {}
AlertSubscriptionSchema.setClass(AlertSubscription);
