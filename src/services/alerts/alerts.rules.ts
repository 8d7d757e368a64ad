import type { AlertKind } from '../../entities/alerts/alert-subscription.js';

export const MAX_SUBSCRIPTIONS = 10;

/** Deliveries that an account may request, tests and redeliveries together. */
const ASKED_PER_MINUTE = 5;
/** How many of these may be emails: the address may be a stranger's. */
const ASKED_MAILS_PER_DAY = 10;

interface AskedLimit {
  /** Name of the counter. */
  name: string;
  /** Maximum in a window that begins with the first. */
  most: number;
  windowMs: number;
  /** Error message beyond the limit. */
  message: string;
}

const PER_MINUTE: AskedLimit = {
  name: 'asked',
  most: ASKED_PER_MINUTE,
  windowMs: 60_000,
  message: `At most ${ASKED_PER_MINUTE} tests and redeliveries per minute. Try again later.`,
};
const MAILS_PER_DAY: AskedLimit = {
  name: 'asked-mail',
  most: ASKED_MAILS_PER_DAY,
  windowMs: 24 * 60 * 60_000,
  message: `At most ${ASKED_MAILS_PER_DAY} tests and redeliveries by email per day. Try again later.`,
};

/** The limits on requested deliveries, in the order in which they are counted. */
export const askedLimits = (kind: AlertKind): readonly AskedLimit[] =>
  kind === 'email' ? [PER_MINUTE, MAILS_PER_DAY] : [PER_MINUTE];

/** Binds a sealed signing secret to its subscription (associated data of the envelope). */
export function signingSecretField(subscriptionId: string): string {
  return `alert_subscription:${subscriptionId}:signing_secret`;
}

const SECRET_SEPARATOR = ' ';

/**
 * The sealed content of a subscription: the current signing secret, followed by the previous one, which keeps signing
 * so that receivers can change over at any moment.
 */
export function signingSecrets(current: string, former?: string): string {
  const previous = former?.split(SECRET_SEPARATOR)[0];
  return previous === undefined ? current : current + SECRET_SEPARATOR + previous;
}
