import type { MailStanding } from '../../entities/alerts/alert-mail.js';
import type { AlertKind } from '../../entities/alerts/alert-subscription.js';
import type { TakenAlert } from './delivery.store.js';

/** Maximum number of delivery attempts, across all processes and restarts. */
export const MAX_ATTEMPTS = 3;
/** Pauses before the second and third attempt, milliseconds. */
export const PAUSES_MS = [500, 1_500];

/** The result of an attempt, or of a check before any attempt. */
export type DeliveryOutcome =
  | { result: 'sent'; responseCode: number }
  | {
      result: 'failed' | 'degraded';
      responseCode: number | null;
      /** For the owner of the alert: without addresses, secrets or anything that the receiver wrote. */
      error: string;
      /** The receiver returned 410: its subscription is switched off. */
      gone?: boolean;
    }
  /** Another attempt may succeed. */
  | { result: 'again'; responseCode: number | null; error: string };

/** Makes one attempt; `standing` is the email recipient's relation to the account. Doesn't reject. */
export type Send = (alert: TakenAlert, standing?: MailStanding) => Promise<DeliveryOutcome>;
/** Null for a kind that this installation can't send. */
export type Senders = Record<AlertKind, Send | null>;

/** How to send an alert, or its outcome without an attempt. */
export function planDelivery(alert: TakenAlert, senders: Senders): Send | DeliveryOutcome {
  if (alert.attempts >= MAX_ATTEMPTS) {
    const error = `Gave up after ${MAX_ATTEMPTS} attempts. The process that made the last attempt stopped before recording the outcome, so that delivery may have arrived.`;
    return { result: 'failed', responseCode: null, error };
  }
  const degraded = 'Recorded, not emailed: no mail server is configured on this installation (SMTP_URL).';
  return senders[alert.kind] ?? { result: 'degraded', responseCode: null, error: degraded };
}

/** The outcome of an alert whose account or subscription is gone. */
export const unwanted: DeliveryOutcome = {
  result: 'failed',
  responseCode: null,
  error: 'Not sent: the account was disabled, or the account or subscription was deleted, before delivery.',
};

/** The outcome of an alert whose subscription was turned off, by its owner or by a 410. */
export const turnedOff: DeliveryOutcome = {
  result: 'failed',
  responseCode: null,
  error: 'Not sent: the subscription was turned off before delivery.',
};

/** The outcome of the last attempt. */
export function givenUp(outcome: Extract<DeliveryOutcome, { result: 'again' }>): DeliveryOutcome {
  const { responseCode, error } = outcome;
  return { result: 'failed', responseCode, error: `${error} Gave up after ${MAX_ATTEMPTS} attempts.` };
}
