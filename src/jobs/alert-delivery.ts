import type { MikroORM } from '@mikro-orm/postgresql';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Config } from '../config.js';
import { systemClock } from '../lib/clock.js';
import { createEgress } from '../lib/egress/egress.js';
import type { Logger } from '../lib/logger.js';
import type { Pseudonyms } from '../services/accounts/pseudonyms.rules.js';
import { countPendingAlerts } from '../services/alerts/delivery.store.js';
import { type DeliveryWorker, startDeliveryWorker } from '../services/alerts/delivery-worker.js';
import { createMailSender } from '../services/alerts/mail-sender.js';
import { createWebhookSender } from '../services/alerts/webhook-sender.js';
import { createEnvelopes } from '../services/envelopes.js';

export interface AlertDeliveryOptions {
  orm: MikroORM;
  config: Config;
  names: Pseudonyms;
  log: Logger;
  registry: Registry;
}

/**
 * Starts the delivery of alerts in this process, with its metrics. It isn't a scheduled job, so it also runs with
 * DISABLE_BACKGROUND_TASKS, and has its own leases (docs/decisions/0064-delivery-of-alerts.md).
 */
export function startAlertDelivery({
  orm,
  config,
  names,
  log,
  registry,
}: AlertDeliveryOptions): DeliveryWorker {
  const em = () => orm.em.fork();
  const metrics = deliveryMetrics(registry, () => countPendingAlerts(em()));
  const { mail, publicBaseUrl: baseUrl } = config;
  return startDeliveryWorker({
    em,
    names,
    log,
    senders: {
      webhook: createWebhookSender({
        egress: createEgress({ allowPrivate: config.webhookAllowPrivate }),
        operatorSecret: config.webhookSecret,
        envelope: createEnvelopes(config).alertSecret,
        clock: systemClock,
      }),
      email: mail && createMailSender({ mail, baseUrl, names }),
    },
    onAttempt({ kind, pendingSinceMs }, number) {
      if (number === 1) metrics.firstAttempt.observe({ kind }, (systemClock.now() - pendingSinceMs) / 1000);
    },
    onAttempted: ({ kind }, outcome) => metrics.attempts.inc({ kind, outcome }),
    onEnd: ({ kind }, status) => metrics.deliveries.inc({ kind, status }),
  });
}

function deliveryMetrics(registry: Registry, countPending: () => Promise<number>) {
  const registers = [registry];
  new Gauge({
    name: 'gateway_alerts_pending',
    help: 'Alerts waiting for delivery, including those in progress, across the whole installation.',
    registers,
    async collect() {
      // Keeps the last count while the database is unavailable.
      await countPending().then(
        (count) => this.set(count),
        () => undefined,
      );
    },
  });
  return {
    attempts: new Counter({
      name: 'gateway_alert_attempts_total',
      help: 'Alert delivery attempts by outcome: sent, failed, or again (will be retried).',
      labelNames: ['kind', 'outcome'],
      registers,
    }),
    deliveries: new Counter({
      name: 'gateway_alert_deliveries_total',
      help: "Finished alert deliveries: sent, failed, or degraded (an email that wasn't sent: no mail server, or a limit).",
      labelNames: ['kind', 'status'],
      registers,
    }),
    firstAttempt: new Histogram({
      name: 'gateway_alert_first_attempt_seconds',
      help: 'Time from an alert firing to the first delivery attempt.',
      labelNames: ['kind'],
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 15, 60],
      registers,
    }),
  };
}
