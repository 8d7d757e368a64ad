import { defineEntity, p } from '@mikro-orm/core';
import { ofAccount } from './account.js';

/** A single-use link to set a new password. Only its hash is kept. */
const PasswordResetSchema = defineEntity({
  name: 'PasswordReset',
  tableName: 'password_resets',
  properties: {
    /** SHA-256 of the token, in hex. */
    tokenHash: p.text().primary(),
    accountId: () => ofAccount('password_resets_account_id_fkey').index('password_resets_account_id'),
    expiresAt: p.datetime(6).index('password_resets_expires_at'),
  },
});

export class PasswordReset extends PasswordResetSchema.class {}
PasswordResetSchema.setClass(PasswordReset);
