/** Binds a sealed signing secret to its subscription (associated data of the envelope). */
export function signingSecretField(subscriptionId: string): string {
  return `alert_subscription:${subscriptionId}:signing_secret`;
}
