import { timingSafeEqual } from 'node:crypto';
import { uuidOf } from '../../lib/uuid.js';
import type { Pseudonyms } from '../accounts/pseudonyms.rules.js';

/** What the links of a mail do: end the mails of an account to this address, or lift the limit on strangers. */
export const mailLinkActions = ['stop', 'confirm'] as const;
export type MailLinkAction = (typeof mailLinkActions)[number];

/** Whom a link concerns: the mails of one account to one address. */
export interface MailLink {
  accountId: string;
  /** `Pseudonyms.mailbox` */
  recipientHash: string;
}

type Names = Pick<Pseudonyms, 'mailLink'>;

const signature = (names: Names, action: MailLinkAction, { accountId, recipientHash }: MailLink): string =>
  names.mailLink(`${action}:${accountId}:${recipientHash}`);

/** The address of a page below the installation's public address. Only who gets the mail knows it. */
export function mailLinkUrl(names: Names, baseUrl: string, action: MailLinkAction, link: MailLink): string {
  const token = `${link.accountId}.${link.recipientHash}.${signature(names, action, link)}`;
  return `${baseUrl}/mail/${action}?token=${token}`;
}

/** What a token says; undefined when we didn't write it for this action. */
export function readMailLink(names: Names, action: MailLinkAction, token: string): MailLink | undefined {
  const [accountId = '', recipientHash = '', given = '', ...rest] = token.split('.');
  if (rest.length > 0 || uuidOf(accountId) !== accountId) return undefined;
  const expected = Buffer.from(signature(names, action, { accountId, recipientHash }));
  const bytes = Buffer.from(given);
  if (bytes.length !== expected.length || !timingSafeEqual(bytes, expected)) return undefined;
  return { accountId, recipientHash };
}
