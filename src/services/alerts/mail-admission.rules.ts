import type { MailStanding } from '../../entities/alerts/alert-mail.js';

/** Emails of one account in 24 hours, including those about its low balance. */
const MAILS_OF_ACCOUNT = 50;
/** Emails in 24 hours to an account's own address, over all accounts that have ever had it. */
const MAILS_TO_OWN = 50;
/** Emails in 24 hours to an unconfirmed address that isn't the account's own, over all accounts. */
const MAILS_TO_STRANGER = 5;
/** The same for an address that has confirmed emails of another account. */
const MAILS_TO_ACQUAINTED = 20;

/** Facts for admitting an email. Counts are of the last 24 hours. */
export interface MailFacts {
  standing: MailStanding;
  /** The recipient has stopped the emails of this account. */
  stopped: boolean;
  /** The recipient has confirmed emails of some account. */
  acquainted: boolean;
  ofAccount: number;
  /** Emails to this address from all accounts with the same standing. */
  toRecipient: number;
}

/** The reason why an email isn't sent, for the owner of the alert; undefined if it may be sent. */
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
