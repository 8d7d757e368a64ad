import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Logger } from '../../lib/logger.js';
import {
  givenUp,
  MAX_ATTEMPTS,
  type Outcome,
  PAUSES_MS,
  planDelivery,
  type Senders,
} from './delivery.rules.js';
import {
  type AlertEnd,
  beginAttempt,
  disableSubscription,
  finishAlert,
  releaseAlert,
  type TakenAlert,
} from './delivery.store.js';

export interface DeliveryOptions {
  /** An entity manager of its own for each statement. */
  em(): EntityManager;
  senders: Senders;
  log: Logger;
  /** Aborted when the process wants to end: attempts under way are finished, no other is begun. */
  stopping: AbortSignal;
  /** `performance.now()` at which the lease has ended. */
  leasedUntil: number;
  /** Before the second attempt and before the third. */
  pausesMs?: readonly number[] | undefined;
  onAttempt?(alert: TakenAlert, number: number): void;
  onAttempted?(alert: TakenAlert, result: Outcome['result']): void;
  /** Its end was recorded by this process. */
  onEnd?(alert: TakenAlert, status: AlertEnd['status']): void;
}

/** Pause before an outcome is recorded once more, when the database is away. */
const RECORD_AGAIN_MS = 250;

/**
 * Brings one alert to its end: up to three attempts in all, counted before they are made. Ends early, with the alert
 * left to others, when the lease is over, when somebody else holds it, or when the process stops.
 */
export async function deliverAlert(alert: TakenAlert, options: DeliveryOptions): Promise<void> {
  const { pausesMs = PAUSES_MS } = options;
  const send = planDelivery(alert, options.senders);
  if (typeof send !== 'function') return finish(alert, send, options);
  for (;;) {
    const number = await beginAttempt(options.em(), alert, MAX_ATTEMPTS);
    if (number === null) return;
    options.onAttempt?.(alert, number);
    const outcome = await send(alert);
    options.onAttempted?.(alert, outcome.result);
    if (outcome.result !== 'again') return finish(alert, outcome, options);
    if (number >= MAX_ATTEMPTS) return finish(alert, givenUp(outcome), options);
    const pauseMs = pausesMs[number - 1]!;
    if (await isCalledOff(pauseMs, options.stopping)) {
      return releaseAlert(options.em(), alert, pauseMs);
    }
  }
}

/** Waits, and says whether the process began to stop before the end. */
async function isCalledOff(pauseMs: number, stopping: AbortSignal): Promise<boolean> {
  await delay(pauseMs, undefined, { signal: stopping }).catch(() => undefined);
  return stopping.aborted;
}

/** Records an end; tries again while the lease lasts, since what was sent can't be unsent. */
async function finish(alert: TakenAlert, outcome: Outcome, options: DeliveryOptions): Promise<void> {
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
  outcome: Outcome,
  { em, log, onEnd }: DeliveryOptions,
): Promise<void> {
  const { id, kind, purpose, destination, subscriptionId } = alert;
  if (outcome.result === 'again') throw new Error('an alert ends with an outcome');
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
    log.warn({ alert: id, kind }, 'an alert was taken by another process meanwhile');
    return;
  }
  onEnd?.(alert, status);
  if (status === 'failed') log.info({ alert: id, kind, purpose, responseCode }, 'an alert was not delivered');
}
