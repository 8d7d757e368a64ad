import type { EntityManager } from '@mikro-orm/postgresql';
import type { MailStanding } from '../../entities/alerts/alert-mail.js';
import { isPlainMail } from '../accounts/accounts.rules.js';
import type { Pseudonyms } from '../accounts/pseudonyms.rules.js';
import type { TakenAlert } from './delivery.store.js';
import { mailRefusal } from './mail-admission.rules.js';
import { countMails, findMail, insertMail, lockMails, recipientFacts } from './mail-admission.store.js';

/** The recipient's standing if the email may be sent, or else the reason. */
export type MailAdmission = { standing: MailStanding } | { refusal: string };

/**
 * Admits and counts an email in the transaction of its attempt. All attempts of one email count once, but each checks
 * whether the recipient has stopped the account's emails.
 */
export async function admitMail(
  em: EntityManager,
  alert: Pick<TakenAlert, 'id' | 'accountId' | 'destination' | 'redeliveries'>,
  names: Pick<Pseudonyms, 'mailbox'>,
): Promise<MailAdmission> {
  const recipientHash = names.mailbox(alert.destination);
  const mail = { eventId: alert.id, series: alert.redeliveries, accountId: alert.accountId, recipientHash };
  await lockMails(em, mail);
  const { stopped, confirmed, acquainted, ownEmail } = await recipientFacts(em, mail);
  const admitted = await findMail(em, mail);
  if (admitted && !stopped) return { standing: admitted };
  // Strangers may sign up with variants of a mailbox: their emails must not use up the owner's limit.
  const isOwn = ownEmail !== null && isPlainMail(ownEmail) && names.mailbox(ownEmail) === recipientHash;
  const standing = isOwn ? 'own' : confirmed ? 'confirmed' : 'stranger';
  const counts = await countMails(em, { ...mail, standing });
  const refusal = mailRefusal({ standing, stopped, acquainted, ...counts });
  if (refusal !== undefined) return { refusal };
  await insertMail(em, { ...mail, standing });
  return { standing };
}
