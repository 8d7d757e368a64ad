import type { Account } from '../../entities/accounts/account.js';
import { formatTimestamp } from '../../lib/clock.js';
import { formatDecimal } from '../../lib/money.js';
import type { AccountOutput, UserOutput } from './accounts.outputs.js';

/** The login identity of an email address: its lower-case form. */
export const emailKeyOf = (email: string): string => email.toLowerCase();

/** The address that a starter credit belongs to: `me+tag@host` and `me@host` are one person. */
export function foldedMail(email: string): string {
  const key = emailKeyOf(email);
  const at = key.lastIndexOf('@');
  const plus = key.indexOf('+');
  return plus > 0 && plus < at ? key.slice(0, plus) + key.slice(at) : key;
}

/** Domains of the provider that ignores dots in mailbox names. */
const DOTLESS = new Set(['gmail.com', 'googlemail.com']);

/** The mailbox behind an email address, without tags and without dots that the provider ignores. */
export function mailboxOf(email: string): string {
  const folded = foldedMail(email);
  const at = folded.lastIndexOf('@');
  if (!DOTLESS.has(folded.slice(at + 1))) return folded;
  return `${folded.slice(0, at).replaceAll('.', '')}@gmail.com`;
}

/**
 * Whether an address is spelled like its mailbox. At most one account has that spelling; others may have variants of
 * it.
 */
export const isPlainMail = (email: string): boolean => mailboxOf(email) === emailKeyOf(email);

/** An account as its owner sees it. */
export function accountView(account: Account): AccountOutput {
  return {
    id: account.id,
    email: account.email ?? '',
    name: account.name,
    role: account.role,
    status: account.status,
    created_at: formatTimestamp(account.createdAt.getTime()),
    plan_id: account.planId,
  };
}

/** An account as administrators see it. */
export function userView(account: Account): UserOutput {
  return { ...accountView(account), balance_usd: formatDecimal(account.balance) };
}
