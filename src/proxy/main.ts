import { loadConfigOrExit } from '../config.js';
import { isPooled } from '../db/pooled.js';
import { waitForSchema } from '../db/wait-for-schema.js';
import { openWithoutMigrations } from '../db/without-migrations.js';
import { collectWhenIdle } from '../lib/collect-when-idle.js';
import { JsonReader } from '../lib/json-reader.js';
import { announceReady, onShutdown, startOrExit } from '../lib/lifecycle.js';
import { createLogger } from '../lib/logger.js';
import { createRegistry, startMetricsListener } from '../lib/metrics.js';
import { openTracing } from '../lib/tracing/open-tracing.js';
import { within } from '../lib/within.js';
import { WorkerThread } from '../lib/worker-thread.js';
import { loadRouting, openRouter } from '../router/open-router.js';
import { createProxy } from './app.js';
import { simulatorOnDemand } from './simulator/on-demand.js';

const POOL_SIZE = 4;
const GOODBYE_MS = 1_000;

/** A little less than the edge's timeout: the proxy should give up first, because it knows which node was slow. */
const beforeTheEdge = (milliseconds: number): number => milliseconds - Math.min(2_000, 0.05 * milliseconds);

const config = loadConfigOrExit('proxy');
const log = createLogger('proxy', config.logLevel);
const loaded = await loadRouting(config, simulatorOnDemand);

await startOrExit('proxy', async () => {
  const orm = openWithoutMigrations({
    databaseUrl: config.databaseUrl!,
    pooled: isPooled(config),
    processName: 'proxy',
    poolSize: POOL_SIZE,
  });
  await waitForSchema(orm);
  const registry = createRegistry('proxy');
  const json = new JsonReader(new WorkerThread(log));
  const tracing = await openTracing(config.tracing, 'proxy', log);
  const timeouts = {
    firstByteMs: beforeTheEdge(config.upstreamTimeoutMs),
    idleMs: beforeTheEdge(config.upstreamIdleMs),
  };
  const { router, keys, close } = await openRouter(loaded, {
    ...{ config, orm, log, registry, json, timeouts },
    logsFaults: true,
  });
  const proxy = createProxy({
    router,
    keys,
    masterKey: config.upstreamMasterKey,
    log,
    tracing,
    drainTimeoutMs: config.drainMs,
  });
  const url = await proxy.app.listen({ port: config.proxyPort, host: config.host });
  if (config.metricsPort !== null) {
    const { metricsHost: host, metricsPort: port } = config;
    await startMetricsListener({ registry, host, port, ready: proxy.ready });
  }
  onShutdown(
    log,
    async () => {
      await proxy.close();
      await close();
      await within(GOODBYE_MS, tracing?.close() ?? Promise.resolve());
      await orm.close();
    },
    { timeoutMs: config.stopMs },
  );
  const simulated = loaded.source.simulatorUrl() !== undefined;
  log.info({ url, simulated, deployments: loaded.routing.deployments.length }, 'listening');
  announceReady(url);
  collectWhenIdle();
});
