import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';
import { ofAccount } from '../accounts/account.js';

/** What the owner of a mail address has said to the mails of an account, by the links in them. */
const MailRecipientSchema = defineEntity({
  name: 'MailRecipient',
  tableName: 'mail_recipients',
  indexes: [
    { name: 'mail_recipients_confirmed', properties: ['recipientHash'], where: 'confirmed_at is not null' },
  ],
  properties: {
    accountId: () => ofAccount('mail_recipients_account_id_fkey').primary(),
    /** HMAC of the mailbox: spellings of one address are one. */
    recipientHash: p.text().primary(),
    confirmedAt: p.datetime(6).nullable(),
    /** From then on the account sends nothing to it. */
    stoppedAt: p.datetime(6).nullable(),
  },
});

export class MailRecipient extends MailRecipientSchema.class {
  override [PrimaryKeyProp]?: ['accountId', 'recipientHash'];
}
MailRecipientSchema.setClass(MailRecipient);
