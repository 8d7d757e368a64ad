import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { AlertKind } from '../../entities/alerts/alert-subscription.js';
import type { Logger } from '../../lib/logger.js';
import { createOutageLog } from '../../lib/outage-log.js';
import { within } from '../../lib/within.js';
import { createAccountShares } from './account-shares.js';
import type { TakenAlert } from './delivery.store.js';
import { type Places, takeDueAlerts } from './take-due.store.js';

export interface DeliveryPoolOptions {
  kind: AlertKind;
  places: Places;
  em(): EntityManager;
  log: Logger;
  leaseMs: number;
  pollMs: number;
  /** Delivers an alert until its end, and reports how long each attempt took. */
  deliver(alert: TakenAlert, hold: PoolHold): Promise<void>;
}

/** The slot that a delivery occupies. */
export interface PoolHold {
  /** `performance.now()` at the end of the lease. */
  leasedUntil: number;
  /** Aborted when the process stops. */
  stopping: AbortSignal;
  /** Reports the end of an attempt. */
  attempted(tookMs: number): void;
}

/** Takes alerts of one kind as slots become free. */
export interface DeliveryPool {
  wake(): void;
  stop(timeoutMs: number): Promise<void>;
}

const NOBODY = '00000000-0000-0000-0000-000000000000';

export function startDeliveryPool(options: DeliveryPoolOptions): DeliveryPool {
  const { kind, places, leaseMs, pollMs, log } = options;
  const outages = createOutageLog(log, `the delivery of alerts by ${kind}`, 5 * pollMs);
  const shares = createAccountShares(places.perAccount, () => performance.now());
  const stopping = new AbortController();
  const running = new Map<TakenAlert, Promise<void>>();
  let after = NOBODY;

  const start = (alert: TakenAlert, leasedUntil: number): void => {
    const attempted = (tookMs: number) => shares.attempted(alert.accountId, tookMs);
    const delivery = options
      .deliver(alert, { leasedUntil, stopping: stopping.signal, attempted })
      // The alert stays leased, and is taken again after that.
      .catch((error: unknown) => outages.failed(error))
      .finally(() => {
        running.delete(alert);
        looks.wake();
      });
    running.set(alert, delivery);
  };

  const takeAll = async (): Promise<void> => {
    for (;;) {
      const leasedUntil = performance.now() + leaseMs;
      const room = { ...places, kind, running: [...running.keys()], shares: shares.reduced(), after };
      const turn = await takeDueAlerts(options.em(), room, leaseMs);
      after = turn.after;
      for (const alert of turn.alerts) start(alert, leasedUntil);
      if (turn.alerts.length === 0 || stopping.signal.aborted) return;
    }
  };
  const looks = lookAgainAndAgain(
    () => takeAll().catch((error: unknown) => outages.failed(error)),
    pollMs,
    stopping.signal,
  );

  return {
    wake: looks.wake,
    async stop(timeoutMs) {
      stopping.abort();
      looks.wake();
      const done = looks.ended.then(() => Promise.all(running.values()));
      await within(timeoutMs, done);
      outages.close();
      if (running.size > 0) log.warn({ kind, running: running.size }, 'alerts were still being delivered');
    },
  };
}

/** Runs `look`, then waits until it is woken or `pollMs` have passed, until it is stopped. */
function lookAgainAndAgain(look: () => Promise<void>, pollMs: number, stopping: AbortSignal) {
  let woken = new AbortController();
  const run = async (): Promise<void> => {
    while (!stopping.aborted) {
      woken = new AbortController();
      await look();
      await delay(pollMs, undefined, { signal: woken.signal }).catch(() => undefined);
    }
  };
  return { wake: () => woken.abort(), ended: run() };
}
