import type { AlertKind } from '../../entities/alerts/alert-subscription.js';

/** Subscriptions that one key may have. */
export const MAX_SUBSCRIPTIONS = 10;

/** Deliveries that an account may ask for itself, tests and repetitions together. */
export const ASKED_PER_MINUTE = 5;
/** Of them by mail: the address may be a stranger's. */
export const ASKED_MAILS_PER_DAY = 10;

export interface AskedDeliveries {
  lastMinute: number;
  /** How long ago the oldest of them was. */
  oldestSeconds: number;
  mailsOfDay: number;
  oldestMailSeconds: number;
}

const MINUTE_SECONDS = 60;
const DAY_SECONDS = 86_400;

/** The message if the newest of these exceeds the limit, and when the next one is allowed. */
export function askedTooMuch(
  asked: AskedDeliveries,
  kind: AlertKind,
): { message: string; retryAfterSeconds: number } | undefined {
  if (asked.lastMinute > ASKED_PER_MINUTE) {
    return {
      message: `At most ${ASKED_PER_MINUTE} tests and redeliveries per minute. Try again later.`,
      retryAfterSeconds: MINUTE_SECONDS - asked.oldestSeconds,
    };
  }
  if (kind === 'webhook' || asked.mailsOfDay <= ASKED_MAILS_PER_DAY) return undefined;
  return {
    message: `At most ${ASKED_MAILS_PER_DAY} tests and redeliveries by email per day. Try again later.`,
    retryAfterSeconds: DAY_SECONDS - asked.oldestMailSeconds,
  };
}

/** Binds a sealed signing secret to its subscription (associated data of the envelope). */
export function signingSecretField(subscriptionId: string): string {
  return `alert_subscription:${subscriptionId}:signing_secret`;
}

const SECRET_SEPARATOR = ' ';

/**
 * What is sealed for a subscription: the secret that signs, and behind it the one before, which goes on signing so that a
 * receiver can change over at any moment.
 */
export function signingSecrets(current: string, former?: string): string {
  const previous = former?.split(SECRET_SEPARATOR)[0];
  return previous === undefined ? current : current + SECRET_SEPARATOR + previous;
}
