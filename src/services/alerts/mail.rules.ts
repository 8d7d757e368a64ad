import type { GuardAction } from '../../entities/keys/key-guard.js';
import { escaped } from '../../lib/html.js';
import { formatDecimal } from '../../lib/money.js';
import { moneyParts } from '../../lib/money-parts.js';
import type { TakenAlert } from './delivery.store.js';

/** A mail as it is handed to the mail server. */
export interface MailContent {
  subject: string;
  text: string;
  html: string;
}

/** URLs of the pages where a recipient decides about the emails of the account. */
export interface MailLinks {
  stop: string;
  /** Null when there is nothing to confirm. */
  confirm: string | null;
}

const MAX_NAME_CHARS = 80;
/** Line breaks, other control characters, and characters that change the text direction. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** A customer's name for something, on one line of limited length. */
function oneLine(name: string): string {
  const line = name.replace(UNPRINTABLE, ' ').replace(/\s+/g, ' ').trim();
  const chars = [...line];
  return chars.length > MAX_NAME_CHARS ? `${chars.slice(0, MAX_NAME_CHARS - 1).join('')}…` : line;
}

function dollars(decimal: string | null): string {
  const { main, rest } = moneyParts(formatDecimal(decimal ?? '0'));
  return main + rest;
}

interface Letter {
  subject: string;
  /** First line of the body. */
  title: string;
  facts: readonly (readonly [string, string])[];
  explanation: string;
  link: { label: string; url: string };
}

const CONFIRM =
  'Someone entered this address to receive their spend alerts. Until you confirm it, you receive only a few a day.';

/** The email for an alert. `baseUrl` is the installation's public URL. */
export function mailContent(alert: TakenAlert, baseUrl: string, links: MailLinks): MailContent {
  const letter = alert.purpose === 'low_balance' ? lowBalance(alert, baseUrl) : threshold(alert, baseUrl);
  return render(alert.purpose === 'test' ? asTest(letter) : letter, links);
}

const GUARD_SUBJECTS: Record<GuardAction, string> = {
  disable: 'Key stopped',
  slow: 'Key slowed down',
  fallback_model: 'Key moved to another model',
};

/** What the guard of the key did; undefined for nothing. */
function guardText({ guardAction, guardModel, billingMonth }: TakenAlert, pct: number): string | undefined {
  if (guardAction === null) return undefined;
  const done = {
    disable: 'its calls are rejected',
    slow: 'it gets a tenth of the requests per minute',
    fallback_model: `its calls run on ${guardModel}`,
  }[guardAction];
  return `The guard of this key acted at ${pct}%: ${done}, until ${billingMonth} is over or you undo it on the key's page.`;
}

function threshold(alert: TakenAlert, baseUrl: string): Letter {
  const name = oneLine(alert.keyName ?? 'API key');
  const pct = alert.thresholdPct ?? 100;
  return {
    // Our own words first: the name may be any text, and the reader a stranger.
    subject: `${alert.guardAction ? GUARD_SUBJECTS[alert.guardAction] : 'Spend alert'}: ${pct}% of the monthly limit reached by “${name}”`,
    title: `The key “${name}” has reached ${pct}% of its monthly limit.`,
    facts: [
      ['Key', `${name} (${alert.keyPrefix ?? ''})`],
      ['Month', alert.billingMonth ?? ''],
      ['Spent', dollars(alert.spend)],
      ['Monthly limit', dollars(alert.monthlyLimit)],
    ],
    explanation:
      guardText(alert, pct) ??
      "The monthly limit only triggers alerts; it doesn't stop calls. To stop them, set a daily limit on the key.",
    link: { label: 'Open the key', url: `${baseUrl}/dashboard/keys/${alert.keyId ?? ''}` },
  };
}

function lowBalance(alert: TakenAlert, baseUrl: string): Letter {
  return {
    subject: `Low balance: ${dollars(alert.balance)} left`,
    title: `Your balance has fallen to ${dollars(alert.balance)}.`,
    facts: [['Balance', dollars(alert.balance)]],
    explanation:
      "Calls are rejected when less than $0.001 is left. You won't receive this message again until you add credit.",
    link: { label: 'Add credit', url: `${baseUrl}/dashboard/billing` },
  };
}

function asTest(letter: Letter): Letter {
  return {
    ...letter,
    subject: `Test: ${letter.subject}`,
    title: `This is a test: no threshold was reached. A real alert reads: ${letter.title}`,
  };
}

function render({ subject, title, facts, explanation, link }: Letter, links: MailLinks): MailContent {
  const choices = [
    ...(links.confirm === null ? [] : [{ label: 'Confirm this address', url: links.confirm }]),
    { label: 'Stop these emails', url: links.stop },
  ];
  const confirm = links.confirm === null ? [] : [CONFIRM];
  const text = [
    title,
    facts.map(([label, value]) => `${label}: ${value}`).join('\n'),
    explanation,
    `${link.label}: ${link.url}`,
    ...confirm,
    choices.map(({ label, url }) => `${label}: ${url}`).join('\n'),
  ].join('\n\n');
  const anchor = ({ label, url }: { label: string; url: string }): string =>
    `<a href="${escaped(url)}" style="color:#0b57d0">${escaped(label)}</a>`;
  const cell = 'padding:4px 16px 4px 0;text-align:left;font-weight:normal';
  const rows = facts.map(
    ([label, value]) =>
      `<tr><th scope="row" style="${cell};color:#57606a">${escaped(label)}</th><td style="${cell}">${escaped(value)}</td></tr>`,
  );
  const html = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escaped(subject)}</title></head>
<body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif;color:#1b1f24;background:#fff">
<p>${escaped(title)}</p>
<table style="border-collapse:collapse"><tbody>${rows.join('')}</tbody></table>
<p>${escaped(explanation)}</p>
<p>${anchor(link)}</p>
<hr style="border:0;border-top:1px solid #d0d7de">
<p style="color:#57606a">${[...confirm.map(escaped), ...choices.map(anchor)].join('<br>')}</p>
</body>
</html>
`;
  return { subject, text: `${text}\n`, html };
}
