import { deriveKey, hmacHex } from '../../lib/crypto.js';
import { emailKeyOf, foldedMail } from './accounts.rules.js';

/** HMACs under which mails, networks and sessions are counted: the tables tell nobody who they are. */
export interface Pseudonyms {
  mail(email: string): string;
  /** For the one starter credit of a person. */
  foldedMail(email: string): string;
  network(network: string): string;
  session(sessionId: string): string;
}

/** The names under a pseudonym key, see pseudonym-key.store.ts. */
export function createPseudonyms(pseudonymKey: Buffer): Pseudonyms {
  const mailKey = deriveKey(pseudonymKey, 'mail-hash');
  const networkKey = deriveKey(pseudonymKey, 'network-hash');
  return {
    mail: (email) => hmacHex(mailKey, emailKeyOf(email)),
    foldedMail: (email) => hmacHex(mailKey, foldedMail(email)),
    network: (network) => hmacHex(networkKey, network),
    session: (sessionId) => hmacHex(mailKey, `session:${sessionId}`),
  };
}
