import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../lib/ids.js';
import { Plan } from '../billing/plan.js';

const LOCAL_PART = "coalesce(substring(email_key from '^[^+@]+'), split_part(email_key, '@', 1))";

/** `mailboxOf` in SQL, as in the index: the mailbox of `email_key`. */
export const MAILBOX_SQL = `case when split_part(email_key, '@', 2) in ('gmail.com', 'googlemail.com')
  then replace(${LOCAL_PART}, '.', '') || '@gmail.com'
  else ${LOCAL_PART} || '@' || split_part(email_key, '@', 2) end`;

/** A customer or administrator, their credit balance and the counters that guard their sessions. */
const AccountSchema = defineEntity({
  name: 'Account',
  tableName: 'accounts',
  indexes: [
    {
      name: 'accounts_signup_network',
      properties: ['signupNetworkHash', 'createdAt'],
      where: 'signup_network_hash is not null',
    },
    {
      name: 'accounts_created_at',
      columns: [
        { name: 'created_at', sort: 'desc' },
        { name: 'id', sort: 'desc' },
      ],
    },
    {
      name: 'accounts_mailbox',
      expression: `create index accounts_mailbox on accounts ((${MAILBOX_SQL})) where email_key is not null`,
    },
  ],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    /** As its owner wrote it; null once the account is deleted. */
    email: p.text().nullable(),
    /** The address in lower case, which is the login identity. */
    emailKey: p.text().nullable().unique('accounts_email_key_key'),
    name: p.text(),
    passwordHash: p.text().nullable().hidden(),
    role: p.text().$type<'user' | 'admin'>().default('user'),
    status: p.text().$type<'active' | 'disabled'>().default('active'),
    planId: () =>
      p
        .manyToOne(Plan)
        .mapToPk()
        .joinColumn('plan_id')
        .foreignKeyName('accounts_plan_id_fkey')
        .default('free'),
    /** numeric(24,12) dollars; always the sum of the ledger and of the charges after its newest entry. */
    balance: p.decimal().precision(24).scale(12).default('0'),
    /** The number of charges and credits so far; the version of `balance`. */
    ledgerSeq: p.bigint().defaultRaw('0'),
    /** Up to this place, the ledger has an entry for each charge, as version 1.1 wrote it. */
    denseSeq: p.bigint().defaultRaw('0'),
    /**
     * Dollars of the newest top-up, grant or starter credit, which defines when a balance is low; null without one.
     */
    lastCredit: p.decimal().precision(24).scale(12).nullable(),
    /** Raised by password change, role change and disabling, which invalidates older tokens. */
    tokenVersion: p.integer().default(0),
    /** The session that last changed the password: its older tokens stay valid. */
    survivingSessionId: p.uuid().nullable(),
    /** The account's data key, sealed; null once the account is deleted. */
    dataKeySealed: p.text().nullable().hidden(),
    /** The account's own virtual key for playground and widgets, sealed. */
    virtualKeySealed: p.text().nullable().hidden(),
    /** HMAC of the network that signed up; for the sign-up limit. */
    signupNetworkHash: p.text().nullable().hidden(),
    /** Low-balance threshold in dollars. Null: off. */
    lowBalanceThresholdUsd: p.decimal().precision(24).scale(12).nullable(),
    /**
     * Whether the alert fires at the next crossing. Firing disarms it until a credit raises the balance to the
     * threshold.
     */
    lowBalanceArmed: p.boolean().default(false),
    /** Whether the alert has fired since the last credit. A new threshold doesn't arm it again then. */
    lowBalanceTold: p.boolean().default(false),
    createdAt: p.datetime(6).onCreate(() => new Date()),
    deletedAt: p.datetime(6).nullable(),
  },
});

export class Account extends AccountSchema.class {}
AccountSchema.setClass(Account);

/** The column that names the account of a row. */
export const ofAccount = (foreignKey: string) =>
  p.manyToOne(Account).mapToPk().joinColumn('account_id').foreignKeyName(foreignKey);
