import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';

/**
 * How an address stands to the account whose alert goes to it: the account's own, one that has confirmed by a link in a
 * mail of the account, or neither.
 */
export type MailStanding = 'own' | 'confirmed' | 'stranger';

/** A mail that was admitted; what daily limits count. Kept for two days. */
const AlertMailSchema = defineEntity({
  name: 'AlertMail',
  tableName: 'alert_mails',
  indexes: [
    { name: 'alert_mails_account', properties: ['accountId', 'admittedAt'] },
    { name: 'alert_mails_recipient', properties: ['recipientHash', 'standing', 'admittedAt'] },
  ],
  properties: {
    eventId: p.uuid().primary(),
    /** Which repetition of the event, from 0: its attempts are one mail. */
    series: p.integer().primary(),
    accountId: p.uuid(),
    /** HMAC of the mailbox: spellings of one address are one. */
    recipientHash: p.text(),
    standing: p.text().$type<MailStanding>(),
    admittedAt: p.datetime(6).defaultRaw('now()'),
  },
});

export class AlertMail extends AlertMailSchema.class {
  override [PrimaryKeyProp]?: ['eventId', 'series'];
}
AlertMailSchema.setClass(AlertMail);
