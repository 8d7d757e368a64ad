/** Subscriptions that one key may have. */
export const MAX_SUBSCRIPTIONS = 10;

/** Deliveries that an account may ask for itself, tests and repetitions together, per minute. */
export const DELIVERIES_PER_MINUTE = 5;

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
