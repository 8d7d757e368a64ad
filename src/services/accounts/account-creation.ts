import { randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Envelope } from '../../lib/crypto.js';
import { newId } from '../../lib/ids.js';
import { DOLLAR } from '../../lib/money.js';
import { postLedgerEntry } from '../billing/ledger.store.js';
import { dataKeyField } from '../keys/keys.rules.js';
import { emailKeyOf } from './accounts.rules.js';
import { claimStarterCredit, insertAccount } from './accounts.store.js';

const STARTER_CREDIT = DOLLAR;
const DATA_KEY_BYTES = 32;

export interface AccountCreation {
  email: string;
  name: string;
  role: 'user' | 'admin';
  passwordHash: string;
  /** HMAC of the folded email address, which gets one starter credit ever. */
  creditMailHash: string;
  signupNetworkHash: string | null;
  /** Milliseconds. */
  now: number;
}

/** A new data key for an account, sealed. */
export const newDataKey = (dataKeys: Envelope, accountId: string): string =>
  dataKeys.seal(randomBytes(DATA_KEY_BYTES), dataKeyField(accountId));

/**
 * Creates an account with its data key and starter credit, in the caller's transaction.
 * @returns the account's id, or undefined when the email address is taken.
 */
export async function createAccount(
  em: EntityManager,
  creation: AccountCreation,
  dataKeys: Envelope,
): Promise<string | undefined> {
  const id = newId();
  const createdAt = new Date(creation.now);
  const inserted = await insertAccount(em, {
    id,
    email: creation.email,
    emailKey: emailKeyOf(creation.email),
    name: creation.name,
    role: creation.role,
    passwordHash: creation.passwordHash,
    dataKeySealed: newDataKey(dataKeys, id),
    signupNetworkHash: creation.signupNetworkHash,
    createdAt,
  });
  if (!inserted) return undefined;
  const claim = { mailHash: creation.creditMailHash, accountId: id, now: createdAt };
  if (await claimStarterCredit(em, claim)) {
    await postLedgerEntry(em, {
      accountId: id,
      kind: 'starter',
      amount: STARTER_CREDIT,
      description: 'Starter credit',
      now: creation.now,
    });
  }
  return id;
}
