import { formatTimestamp } from '../../lib/clock.js';
import { formatDecimal } from '../../lib/money.js';
import type { AccountRow } from './accounts.store.js';

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** The login identity of a mail: compared without case. */
export const emailKeyOf = (email: string): string => email.toLowerCase();

/** The mail that a starter credit belongs to: `me+tag@host` and `me@host` are one person. */
export function foldedMail(email: string): string {
  const key = emailKeyOf(email);
  const at = key.lastIndexOf('@');
  const plus = key.indexOf('+');
  return plus > 0 && plus < at ? key.slice(0, plus) + key.slice(at) : key;
}

/** Domains of one provider that looks past dots in a name. */
const DOTLESS = new Set(['gmail.com', 'googlemail.com']);

/** The mailbox behind a mail, as far as spellings of it are known: tags, and dots where they say nothing. */
export function mailboxOf(email: string): string {
  const folded = foldedMail(email);
  const at = folded.lastIndexOf('@');
  if (!DOTLESS.has(folded.slice(at + 1))) return folded;
  return `${folded.slice(0, at).replaceAll('.', '')}@gmail.com`;
}

/** Whether a mail is spelt as its mailbox is. One account at a time can have that spelling, and any number the others. */
export const isPlainMail = (email: string): boolean => mailboxOf(email) === emailKeyOf(email);

/** An account as it is shown to its owner. */
export function accountView(row: AccountRow) {
  return {
    id: row.id,
    email: row.email ?? '',
    name: row.name,
    role: row.role,
    status: row.status,
    created_at: formatTimestamp(Number(row.created_at_ms)),
    plan_id: row.plan_id,
  };
}

export type AccountView = ReturnType<typeof accountView>;

/** An account as it is shown to an administrator. */
export function userView(row: AccountRow) {
  return { ...accountView(row), balance_usd: formatDecimal(row.balance) };
}

export type UserView = ReturnType<typeof userView>;
