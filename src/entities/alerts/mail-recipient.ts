import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';
import { ofAccount } from '../accounts/account.js';

/** Choices of an email address's owner about the emails of an account, made by links in them. */
const MailRecipientSchema = defineEntity({
  name: 'MailRecipient',
  tableName: 'mail_recipients',
  indexes: [
    { name: 'mail_recipients_confirmed', properties: ['recipientHash'], where: 'confirmed_at is not null' },
  ],
  properties: {
    accountId: () => ofAccount('mail_recipients_account_id_fkey').primary(),
    /** HMAC of the mailbox, the same for all spellings of an address. */
    recipientHash: p.text().primary(),
    confirmedAt: p.datetime(6).nullable(),
    /** Since then the account sends it nothing. */
    stoppedAt: p.datetime(6).nullable(),
  },
});

export class MailRecipient extends MailRecipientSchema.class {
  override [PrimaryKeyProp]?: ['accountId', 'recipientHash'];
}
MailRecipientSchema.setClass(MailRecipient);
