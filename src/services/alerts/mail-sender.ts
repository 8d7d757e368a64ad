import type { MailStanding } from '../../entities/alerts/alert-mail.js';
import { addressInput } from '../../lib/email-input.js';
import { createMailTransport } from '../../lib/mail-transport.js';
import type { Pseudonyms } from '../accounts/pseudonyms.rules.js';
import type { DeliveryOutcome, Send } from './delivery.rules.js';
import type { TakenAlert } from './delivery.store.js';
import { type MailLinks, mailContent } from './mail.rules.js';
import { mailLinkUrl } from './mail-links.rules.js';

/** Time limit of an attempt. Some servers delay their greeting to strangers by seconds. */
const ATTEMPT_MS = 8_000;
const PERMANENT_FROM = 500;

export interface MailSenderOptions {
  mail: { smtpUrl: string; from: string };
  /** The installation's public URL, for links. */
  baseUrl: string;
  /** Signs the links in an email. */
  names: Pick<Pseudonyms, 'mailbox' | 'mailLink'>;
  attemptMs?: number;
}

/** Sends emails through the operator's mail server. */
export function createMailSender({ mail, baseUrl, names, attemptMs = ATTEMPT_MS }: MailSenderOptions): Send {
  const transport = createMailTransport(mail.smtpUrl, attemptMs);
  return async (alert, standing = 'stranger') => {
    if (!addressInput.safeParse(alert.destination).success) {
      return {
        result: 'failed',
        responseCode: null,
        error: "Not sent: the destination isn't an email address.",
      };
    }
    const links = linksOf(alert, standing, { names, baseUrl });
    const signal = AbortSignal.timeout(attemptMs);
    try {
      const message = {
        from: mail.from,
        // An object, because a string would be parsed as a list of addresses.
        to: { name: '', address: alert.destination },
        messageId: messageId(alert, baseUrl),
        headers: {
          'Auto-Submitted': 'auto-generated',
          'X-Auto-Response-Suppress': 'All',
          // RFC 8058: a mail program unsubscribes with one POST, without showing the page.
          'List-Unsubscribe': `<${links.stop}>`,
          'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
        },
        ...mailContent(alert, baseUrl, links),
        signal,
      };
      const { response } = await transport.sendMail(message);
      return { result: 'sent', responseCode: replyCode(response) ?? 250 };
    } catch (error) {
      return signal.aborted
        ? again(`No response from the mail server within ${attemptMs / 1000} seconds.`)
        : explain(error);
    }
  };
}

function linksOf(
  alert: TakenAlert,
  standing: MailStanding,
  { names, baseUrl }: Pick<MailSenderOptions, 'names' | 'baseUrl'>,
): MailLinks {
  const link = { accountId: alert.accountId, recipientHash: names.mailbox(alert.destination) };
  return {
    stop: mailLinkUrl(names, baseUrl, 'stop', link),
    confirm: standing === 'stranger' ? mailLinkUrl(names, baseUrl, 'confirm', link) : null,
  };
}

/** The same in every attempt, so that a mailbox can detect duplicates, but new for a requested redelivery. */
function messageId({ id, redeliveries }: TakenAlert, baseUrl: string): string {
  return `<${id}${redeliveries > 0 ? `.${redeliveries}` : ''}@${new URL(baseUrl).hostname}>`;
}

const again = (error: string, responseCode: number | null = null): DeliveryOutcome => ({
  result: 'again',
  responseCode,
  error,
});

const replyCode = (response: string): number | undefined => Number(/^\d{3}/.exec(response)?.[0]) || undefined;

function explain(error: unknown): DeliveryOutcome {
  const { responseCode, code } = error as { responseCode?: unknown; code?: unknown };
  if (typeof responseCode === 'number') {
    const text = `The mail server responded with ${responseCode}.`;
    return responseCode >= PERMANENT_FROM
      ? { result: 'failed', responseCode, error: text }
      : again(text, responseCode);
  }
  const known = typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code);
  return again(`The connection to the mail server failed${known ? ` (${code})` : ''}.`);
}
