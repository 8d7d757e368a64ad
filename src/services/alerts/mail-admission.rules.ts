import type { MailStanding } from '../../entities/alerts/alert-mail.js';

/** Mails of one account in 24 hours, those of its low balance included. */
const MAILS_OF_ACCOUNT = 50;
/** Mails in 24 hours to the address that an account has as its own, over all accounts that had it one after the other. */
const MAILS_TO_OWN = 50;
/** Mails in 24 hours to an address that isn't the account's own and hasn't confirmed, over all accounts. */
const MAILS_TO_STRANGER = 5;
/** The same for an address that has confirmed mails of another account. */
const MAILS_TO_ACQUAINTED = 20;

/** What is known when a mail is about to go out. Counts are of the last 24 hours. */
export interface MailFacts {
  standing: MailStanding;
  /** The recipient wants no mail of this account. */
  stopped: boolean;
  /** It has confirmed mails of some account. */
  acquainted: boolean;
  ofAccount: number;
  /** To this address, from all accounts with the same standing. */
  toRecipient: number;
}

/** Why an email isn't sent, for the owner of the alert; undefined: it may be sent. */
export function mailRefusal(facts: MailFacts): string | undefined {
  if (facts.stopped)
    return "Recorded, not emailed: the recipient has unsubscribed from this account's emails.";
  if (facts.ofAccount >= MAILS_OF_ACCOUNT) {
    return `Recorded, not emailed: an account sends at most ${MAILS_OF_ACCOUNT} emails in 24 hours.`;
  }
  if (facts.standing === 'own' && facts.toRecipient >= MAILS_TO_OWN) {
    return `Recorded, not emailed: an address receives at most ${MAILS_TO_OWN} emails in 24 hours.`;
  }
  const most = facts.acquainted ? MAILS_TO_ACQUAINTED : MAILS_TO_STRANGER;
  if (facts.standing !== 'stranger' || facts.toRecipient < most) return undefined;
  return `Recorded, not emailed: until it is confirmed with the link in the emails, an address other than the account's own receives at most ${most} emails in 24 hours.`;
}
