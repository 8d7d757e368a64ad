import { timingSafeEqual } from 'node:crypto';
import { uuidOf } from '../../lib/uuid.js';
import type { Pseudonyms } from '../accounts/pseudonyms.rules.js';

/**
 * What the links of an email do: stop the account's emails to this address, or confirm the address and lift the limit
 * on strangers.
 */
export const mailLinkActions = ['stop', 'confirm'] as const;
export type MailLinkAction = (typeof mailLinkActions)[number];

/** The emails of one account to one address. */
export interface MailLink {
  accountId: string;
  /** `Pseudonyms.mailbox` */
  recipientHash: string;
}

type Names = Pick<Pseudonyms, 'mailLink'>;

const signature = (names: Names, action: MailLinkAction, { accountId, recipientHash }: MailLink): string =>
  names.mailLink(`${action}:${accountId}:${recipientHash}`);

/** The URL of a page of this installation. Only the recipient of the email knows it. */
export function mailLinkUrl(names: Names, baseUrl: string, action: MailLinkAction, link: MailLink): string {
  const token = `${link.accountId}.${link.recipientHash}.${signature(names, action, link)}`;
  return `${baseUrl}/mail/${action}?token=${token}`;
}

/** The content of a token; undefined when we didn't sign it for this action. */
export function readMailLink(names: Names, action: MailLinkAction, token: string): MailLink | undefined {
  const [accountId = '', recipientHash = '', given = '', ...rest] = token.split('.');
  if (rest.length > 0 || uuidOf(accountId) !== accountId) return undefined;
  const expected = Buffer.from(signature(names, action, { accountId, recipientHash }));
  const bytes = Buffer.from(given);
  if (bytes.length !== expected.length || !timingSafeEqual(bytes, expected)) return undefined;
  return { accountId, recipientHash };
}
