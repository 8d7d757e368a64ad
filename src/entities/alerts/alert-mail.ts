import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';

/**
 * Relation of an address to the account whose alert it gets: the account's own address, confirmed by a link in one of
 * its emails, or neither.
 */
export type MailStanding = 'own' | 'confirmed' | 'stranger';

/** An admitted email, which daily limits count. Kept for two days. */
const AlertMailSchema = defineEntity({
  name: 'AlertMail',
  tableName: 'alert_mails',
  indexes: [
    { name: 'alert_mails_account', properties: ['accountId', 'admittedAt'] },
    { name: 'alert_mails_recipient', properties: ['recipientHash', 'standing', 'admittedAt'] },
  ],
  properties: {
    eventId: p.uuid().primary(),
    /** Number of the event's redelivery, from 0. All attempts of a redelivery are one email. */
    series: p.integer().primary(),
    accountId: p.uuid(),
    /** HMAC of the mailbox, the same for all spellings of an address. */
    recipientHash: p.text(),
    standing: p.text().$type<MailStanding>(),
    admittedAt: p.datetime(6).defaultRaw('now()'),
  },
});

export class AlertMail extends AlertMailSchema.class {
  override [PrimaryKeyProp]?: ['eventId', 'series'];
}
AlertMailSchema.setClass(AlertMail);
