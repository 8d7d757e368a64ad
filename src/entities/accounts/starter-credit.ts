import { defineEntity, p } from '@mikro-orm/core';
import { ofAccount } from './account.js';

/** A folded email address that has received its starter credit, which is granted only once. */
const StarterCreditSchema = defineEntity({
  name: 'StarterCredit',
  tableName: 'starter_credits',
  properties: {
    /** HMAC of the mailbox, the same for all spellings of an address. */
    mailHash: p.text().primary(),
    accountId: () => ofAccount('starter_credits_account_id_fkey'),
    createdAt: p.datetime(6),
  },
});

export class StarterCredit extends StarterCreditSchema.class {}
StarterCreditSchema.setClass(StarterCredit);
