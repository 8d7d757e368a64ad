import { deriveKey, hmacHex } from '../../lib/crypto.js';
import { emailKeyOf, foldedMail, mailboxOf } from './accounts.rules.js';

/** HMACs under which emails, networks and sessions are counted, so that the tables don't reveal them. */
export interface Pseudonyms {
  mail(email: string): string;
  /** For the one starter credit per person. */
  foldedMail(email: string): string;
  /** For limits on emails to one mailbox. */
  mailbox(email: string): string;
  network(network: string): string;
  /** Authenticates links in our emails. Links must stay valid for as long as people keep emails. */
  mailLink(text: string): string;
  session(sessionId: string): string;
}

/** The HMACs under a pseudonym key, see pseudonym-key.store.ts. */
export function createPseudonyms(pseudonymKey: Buffer): Pseudonyms {
  const mailKey = deriveKey(pseudonymKey, 'mail-hash');
  const networkKey = deriveKey(pseudonymKey, 'network-hash');
  const linkKey = deriveKey(pseudonymKey, 'mail-link');
  return {
    mail: (email) => hmacHex(mailKey, emailKeyOf(email)),
    foldedMail: (email) => hmacHex(mailKey, foldedMail(email)),
    mailbox: (email) => hmacHex(mailKey, mailboxOf(email)),
    network: (network) => hmacHex(networkKey, network),
    mailLink: (text) => hmacHex(linkKey, text),
    session: (sessionId) => hmacHex(mailKey, `session:${sessionId}`),
  };
}
