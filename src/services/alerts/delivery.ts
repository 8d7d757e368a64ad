import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { MailStanding } from '../../entities/alerts/alert-mail.js';
import type { Logger } from '../../lib/logger.js';
import type { Pseudonyms } from '../accounts/pseudonyms.rules.js';
import { SLOW_MS } from './account-shares.js';
import {
  type DeliveryOutcome,
  givenUp,
  MAX_ATTEMPTS,
  PAUSES_MS,
  planDelivery,
  type Senders,
  turnedOff,
  unwanted,
} from './delivery.rules.js';
import {
  type AlertEnd,
  beginAttempt,
  disableSubscription,
  finishAlert,
  releaseAlert,
  sealedSecretsOf,
  type TakenAlert,
  uncountAttempt,
} from './delivery.store.js';
import { admitMail } from './mail-admission.js';

export interface DeliveryOptions {
  /** A new entity manager for each statement. */
  em(): EntityManager;
  senders: Senders;
  /** The HMACs under which recipients of emails are counted. */
  names: Pick<Pseudonyms, 'mailbox'>;
  log: Logger;
  /** Aborted when the process stops: attempts in progress are finished, no new ones are started. */
  stopping: AbortSignal;
  /** `performance.now()` at the end of the lease. */
  leasedUntil: number;
  /** Pauses before the second and third attempt. */
  pausesMs?: readonly number[] | undefined;
  /** How long an attempt took, for the allocation of slots. */
  attempted?(tookMs: number): void;
  onAttempt?(alert: TakenAlert, number: number): void;
  onAttempted?(alert: TakenAlert, result: DeliveryOutcome['result']): void;
  /** Called when this process has recorded an outcome. */
  onEnd?(alert: TakenAlert, status: AlertEnd['status']): void;
}

/** Pause before recording an outcome again while the database is unavailable. */
const RECORD_AGAIN_MS = 250;

/**
 * Delivers one alert: up to three attempts in all, counted before they are made. Leaves the alert to others when the
 * lease has ended, when another process holds it, after a slow attempt, or when this process stops.
 */
export async function deliverAlert(alert: TakenAlert, options: DeliveryOptions): Promise<void> {
  const { pausesMs = PAUSES_MS } = options;
  const send = planDelivery(alert, options.senders);
  if (typeof send !== 'function') return finish(alert, send, options);
  for (;;) {
    const begun = await begin(alert, options);
    if (begun === null) return;
    if ('result' in begun) return finish(alert, begun, options);
    const { number, standing, sealedSecrets } = begun;
    options.onAttempt?.(alert, number);
    const beganAt = performance.now();
    const outcome = await send({ ...alert, signingSecretSealed: sealedSecrets }, standing);
    const tookMs = performance.now() - beganAt;
    options.attempted?.(tookMs);
    options.onAttempted?.(alert, outcome.result);
    if (outcome.result !== 'again') return finish(alert, outcome, options);
    if (number >= MAX_ATTEMPTS) return finish(alert, givenUp(outcome), options);
    const pauseMs = pausesMs[number - 1]!;
    // Doesn't wait for a slow receiver: its slot goes to others in the meantime.
    if (tookMs >= SLOW_MS || (await isCalledOff(pauseMs, options.stopping))) {
      return releaseAlert(options.em(), alert, pauseMs);
    }
  }
}

interface Begun {
  number: number;
  /** The secrets that sign a webhook attempt. */
  sealedSecrets: string | null;
  /** The email recipient's relation to the account. */
  standing?: MailStanding;
}

/**
 * Counts an attempt and admits its email. Returns an outcome if the alert ends here, and null if another process
 * holds it.
 */
async function begin(
  alert: TakenAlert,
  { em, names }: Pick<DeliveryOptions, 'em' | 'names'>,
): Promise<Begun | DeliveryOutcome | null> {
  return em().transactional(async (tx): Promise<Begun | DeliveryOutcome | null> => {
    const number = await beginAttempt(tx, alert, MAX_ATTEMPTS);
    if (number === 'unwanted') return unwanted;
    if (number === 'turned off') return turnedOff;
    if (number === null) return null;
    if (alert.kind !== 'email') return { number, sealedSecrets: await sealedSecretsOf(tx, alert) };
    const admission = await admitMail(tx, alert, names);
    if ('standing' in admission) return { number, sealedSecrets: null, standing: admission.standing };
    await uncountAttempt(tx, alert);
    return { result: 'degraded', responseCode: null, error: admission.refusal };
  });
}

/** Waits. Returns true if the process began to stop in the meantime. */
async function isCalledOff(pauseMs: number, stopping: AbortSignal): Promise<boolean> {
  await delay(pauseMs, undefined, { signal: stopping }).catch(() => undefined);
  return stopping.aborted;
}

/** Records an outcome; retries while the lease lasts, because a delivery can't be undone. */
async function finish(alert: TakenAlert, outcome: DeliveryOutcome, options: DeliveryOptions): Promise<void> {
  for (;;) {
    try {
      return await record(alert, outcome, options);
    } catch (error) {
      if (performance.now() + RECORD_AGAIN_MS > options.leasedUntil) throw error;
      await delay(RECORD_AGAIN_MS);
    }
  }
}

async function record(
  alert: TakenAlert,
  outcome: DeliveryOutcome,
  { em, log, onEnd }: DeliveryOptions,
): Promise<void> {
  const { id, kind, purpose, destination, subscriptionId } = alert;
  if (outcome.result === 'again') throw new Error('an alert must end with an outcome');
  const { result: status, responseCode } = outcome;
  const error = outcome.result === 'sent' ? null : outcome.error;
  const written = await em().transactional(async (tx) => {
    if (!(await finishAlert(tx, alert, { status, responseCode, error }))) return false;
    if (outcome.result === 'failed' && outcome.gone && subscriptionId !== null) {
      await disableSubscription(tx, { id: subscriptionId, destination, reason: outcome.error });
    }
    return true;
  });
  if (!written) {
    log.warn({ alert: id, kind }, 'another process has taken over this alert');
    return;
  }
  onEnd?.(alert, status);
  if (status === 'failed') log.info({ alert: id, kind, purpose, responseCode }, 'failed to deliver an alert');
}
