import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { takeTurn } from '../../db/in-transaction.js';
import { advisoryLocks } from '../../db/locks.js';
import { UNTRACKED } from '../../db/untracked.js';
import { AlertMail, type MailStanding } from '../../entities/alerts/alert-mail.js';
import type { MailFacts } from './mail-admission.rules.js';

/** One email: an event and the number of its redelivery. */
export interface AdmittedMail {
  eventId: string;
  series: number;
  accountId: string;
  recipientHash: string;
  standing: MailStanding;
}

/** Locks the emails of an account and those to a recipient until the transaction ends. */
export async function lockMails(
  em: EntityManager,
  { accountId, recipientHash }: Pick<AdmittedMail, 'accountId' | 'recipientHash'>,
): Promise<void> {
  await takeTurn(em, advisoryLocks.mailsOfAccount, accountId);
  await takeTurn(em, advisoryLocks.mailsToRecipient, recipientHash);
}

/** The standing under which an earlier attempt of this email was admitted. */
export async function findMail(
  em: EntityManager,
  { eventId, series }: Pick<AdmittedMail, 'eventId' | 'series'>,
): Promise<MailStanding | undefined> {
  return (await em.findOne(AlertMail, { eventId, series }, UNTRACKED))?.standing;
}

export interface RecipientFacts extends Pick<MailFacts, 'stopped' | 'acquainted'> {
  /** The recipient has confirmed emails of this account. */
  confirmed: boolean;
  /** The account's own address; null once the account is deleted. */
  ownEmail: string | null;
}

/** The recipient's confirmations and stops, and the account's own address. */
export async function recipientFacts(
  em: EntityManager,
  { accountId, recipientHash }: Pick<AdmittedMail, 'accountId' | 'recipientHash'>,
): Promise<RecipientFacts> {
  const { rows } = await sql<RecipientFacts>`
    select m.stopped_at is not null as stopped, m.confirmed_at is not null as confirmed, a.email as "ownEmail",
      exists (select from mail_recipients o
        where o.recipient_hash = ${recipientHash} and o.confirmed_at is not null) as acquainted
    from (select ${accountId}::uuid as id) one left join accounts a on a.id = one.id
      left join mail_recipients m on m.account_id = one.id and m.recipient_hash = ${recipientHash}`.execute(
    em.getKysely(),
  );
  return rows[0]!;
}

/** Emails of the last 24 hours: of the account, and to the recipient from all accounts with the same standing. */
export async function countMails(
  em: EntityManager,
  { accountId, recipientHash, standing }: Pick<AdmittedMail, 'accountId' | 'recipientHash' | 'standing'>,
): Promise<Pick<MailFacts, 'ofAccount' | 'toRecipient'>> {
  const { rows } = await sql<Pick<MailFacts, 'ofAccount' | 'toRecipient'>>`
    select (select count(*)::int from alert_mails
        where account_id = ${accountId} and admitted_at > now() - interval '1 day') as "ofAccount",
      (select count(*)::int from alert_mails where recipient_hash = ${recipientHash} and standing = ${standing}
        and admitted_at > now() - interval '1 day') as "toRecipient"`.execute(em.getKysely());
  return rows[0]!;
}

/** Uses the database's clock, as the limits do. */
export async function insertMail(em: EntityManager, mail: AdmittedMail): Promise<void> {
  await em.insert(AlertMail, mail);
}
