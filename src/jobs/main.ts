import type { AddressInfo } from 'node:net';
import { loadConfigOrExit } from '../config.js';
import { pgPool } from '../db/connection.js';
import { ALERT_PENDING_CHANNEL } from '../db/invalidation.js';
import { type Listener, listen } from '../db/listen.js';
import { openOrm } from '../db/orm.js';
import { isPooled } from '../db/pooled.js';
import { databaseReadiness } from '../db/readiness.js';
import { waitForDatabase } from '../db/wait.js';
import { collectWhenIdle } from '../lib/collect-when-idle.js';
import { announceReady, onShutdown, startOrExit } from '../lib/lifecycle.js';
import { createLogger } from '../lib/logger.js';
import { createRegistry, startMetricsListener } from '../lib/metrics.js';
import type { DeliveryWorker } from '../services/alerts/delivery-worker.js';
import { createBillingService } from '../services/billing/billing.service.js';
import { createEnvelopes } from '../services/envelopes.js';
import { migrateAndSeedOrExit } from '../services/startup.js';
import { sessionCleanupJob } from './accounts.jobs.js';
import { startAlertDelivery } from './alert-delivery.js';
import { startJobsApp } from './app.js';
import { auditJob, monthlyGrantsJob, postChargesJob } from './billing.jobs.js';
import { resealJob } from './keys.jobs.js';
import type { JobRunner } from './kit.js';
import { nodeSweepJob } from './nodes.jobs.js';
import { alertRetentionJob, usageRetentionJob } from './retention.jobs.js';
import { partitionsJob, rollupsJob } from './usage.jobs.js';

const POOL_SIZE = 6;
/** Time limits of running jobs, and of the whole stop. */
const DRAIN_MS = 10_000;
const STOP_MS = 15_000;

const config = loadConfigOrExit('jobs');
const log = createLogger('jobs', config.logLevel);
const registry = createRegistry('jobs');
const retention = { usage: config.usageRetentionMonths, history: config.historyRetentionMonths };
const orm = openOrm({
  databaseUrl: config.databaseUrl!,
  pooled: isPooled(config),
  processName: 'jobs',
  poolSize: POOL_SIZE,
});
let runner: JobRunner | null = null;
let delivery: DeliveryWorker | undefined;
let alertListener: Listener | undefined;
let working = false;

onShutdown(
  log,
  async () => {
    working = false;
    await Promise.all([runner?.stop(DRAIN_MS), delivery?.stop(DRAIN_MS), alertListener?.stop()]);
    await orm.close(true);
  },
  { timeoutMs: STOP_MS },
);

await startOrExit('jobs', async () => {
  await waitForDatabase(orm, log);
  (await pgPool(orm)).on('error', (error) => log.warn({ err: error }, 'lost a database connection'));
  const names = await migrateAndSeedOrExit(orm, config, log);
  runner = await startJobsApp({
    databaseUrl: config.databaseUrl!,
    databaseDirectUrl: config.databaseDirectUrl!,
    orm,
    log,
    registry,
    enabled: config.backgroundTasks,
    jobs: (reports) => [
      partitionsJob(config.usagePartitions),
      rollupsJob,
      postChargesJob,
      monthlyGrantsJob(createBillingService()),
      auditJob(reports.violations),
      sessionCleanupJob,
      usageRetentionJob(retention, reports.removed),
      alertRetentionJob(retention, reports.removed),
      nodeSweepJob({ staleAfterMs: config.gpuStaleAfterMs, intervalMs: config.gpuSweepIntervalMs }),
      resealJob({ envelopes: createEnvelopes(config) }, reports.oldSeals),
    ],
  });

  const deliveries = startAlertDelivery({ orm, config, names, log, registry });
  delivery = deliveries;
  alertListener = listen({
    databaseUrl: config.databaseDirectUrl!,
    channel: ALERT_PENDING_CHANNEL,
    log,
    onNotify: deliveries.wake,
    onListening: deliveries.wake,
  });

  // Readiness has its own port, so that it also works without METRICS_PORT.
  const databaseIsReady = databaseReadiness(orm);
  const ready = async (): Promise<boolean> => working && databaseIsReady();
  const listener = { registry, host: config.metricsHost, ready };
  const health = await startMetricsListener({ ...listener, host: '127.0.0.1', port: 0 });
  if (config.metricsPort !== null) await startMetricsListener({ ...listener, port: config.metricsPort });
  working = true;
  announceReady(`http://127.0.0.1:${(health.address() as AddressInfo).port}`);
  collectWhenIdle();
});
