import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Logger } from '../../lib/logger.js';
import { createOutageLog } from '../../lib/outage-log.js';
import { within } from '../../lib/within.js';
import { type DeliveryOptions, deliverAlert } from './delivery.js';
import type { Senders } from './delivery.rules.js';
import { type TakenAlert, takeDueAlerts } from './delivery.store.js';

export interface DeliveryWorkerOptions
  extends Pick<DeliveryOptions, 'onAttempt' | 'onAttempted' | 'onEnd' | 'pausesMs'> {
  /** An entity manager of its own for each statement. */
  em(): EntityManager;
  senders: Senders;
  log: Logger;
  /** How long an alert is held; above what three attempts can take. */
  leaseMs?: number;
  /** Longest time between two looks for due alerts. */
  pollMs?: number;
  limits?: { total: number; perLane: number; perAccount: number };
}

/** Delivers pending alerts. Any number of processes may run one: each alert is held by one of them. */
export interface DeliveryWorker {
  /** Something may be due. */
  wake(): void;
  /** Takes nothing more, lets attempts under way end, and gives back what isn't finished; at most `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>;
}

/** With a look each second, who dies is followed within a minute. */
const LEASE_MS = 55_000;
const POLL_MS = 1_000;
/**
 * Deliveries at once: of this process, to one receiver (by scheme, host and port; all mail is one), and of one
 * account, whose receivers may all hang.
 */
const LIMITS = { total: 64, perLane: 4, perAccount: 16 };

export function startDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { leaseMs = LEASE_MS, pollMs = POLL_MS, limits = LIMITS, log } = options;
  const outages = createOutageLog(log, 'the delivery of alerts', 5 * pollMs);
  const stopping = new AbortController();
  const running = new Map<TakenAlert, Promise<void>>();
  let woken = new AbortController();

  const start = (alert: TakenAlert, leasedUntil: number): void => {
    const delivery = deliverAlert(alert, { ...options, stopping: stopping.signal, leasedUntil })
      // Held until its lease ends, then taken again.
      .catch((error: unknown) => outages.failed(error))
      .finally(() => {
        running.delete(alert);
        woken.abort();
      });
    running.set(alert, delivery);
  };

  const takeAll = async (): Promise<void> => {
    for (;;) {
      const leasedUntil = performance.now() + leaseMs;
      const taken = await takeDueAlerts(options.em(), { ...limits, running: [...running.keys()] }, leaseMs);
      for (const alert of taken) start(alert, leasedUntil);
      if (taken.length === 0 || stopping.signal.aborted) return;
    }
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      woken = new AbortController();
      await takeAll().catch((error: unknown) => outages.failed(error));
      await delay(pollMs, undefined, { signal: woken.signal }).catch(() => undefined);
    }
  };
  const loop = run();

  return {
    wake: () => woken.abort(),
    async stop(timeoutMs) {
      stopping.abort();
      woken.abort();
      const done = loop.then(() => Promise.all(running.values()));
      await within(timeoutMs, done);
      outages.close();
      if (running.size > 0) log.warn({ running: running.size }, 'alerts were still being delivered');
    },
  };
}
