import { defineEntity, p } from '@mikro-orm/core';

/** A failed log-in, or one whose result isn't known yet. Kept for a day. */
const LoginFailureSchema = defineEntity({
  name: 'LoginFailure',
  tableName: 'login_failures',
  indexes: [{ name: 'login_failures_mail', properties: ['mailHash', 'createdAt'] }],
  properties: {
    id: p.uuid().primary(),
    /** HMAC of the email address that was tried. */
    mailHash: p.text(),
    /** HMACs of the caller's address, and of its /56 and /48; the latter null for IPv4. */
    networkHash: p.text(),
    middleHash: p.text().nullable(),
    wideHash: p.text().nullable(),
    createdAt: p.datetime(6).index('login_failures_created_at'),
  },
});

export class LoginFailure extends LoginFailureSchema.class {}
LoginFailureSchema.setClass(LoginFailure);
