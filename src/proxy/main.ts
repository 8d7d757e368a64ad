import type { MikroORM } from '@mikro-orm/postgresql';
import { loadConfigOrExit } from '../config.js';
import { isPooled } from '../db/pooled.js';
import { waitForSchema } from '../db/wait-for-schema.js';
import { openWithoutMigrations } from '../db/without-migrations.js';
import { systemClock } from '../lib/clock.js';
import { announceReady, onShutdown, startOrExit } from '../lib/lifecycle.js';
import { createLogger } from '../lib/logger.js';
import { createRegistry, startMetricsListener } from '../lib/metrics.js';
import { openTracing } from '../lib/tracing/open-tracing.js';
import { within } from '../lib/within.js';
import { createProxy, type ModelProxy } from './app.js';
import { RoutingFileError } from './config-file.js';
import { followNodes } from './node-steering.js';
import { routingFaults } from './price-check.js';
import type { Routing } from './routing.js';
import { createRoutingSource } from './routing-source.js';
import { createVirtualKeys } from './virtual-keys.js';

const POOL_SIZE = 4;
const SHUTDOWN_TIMEOUT_MS = 33_000;
const GOODBYE_MS = 1_000;
/** To read the node registry before the first call: until then calls would go to nodes that take none. */
const FIRST_READING_MS = 2_000;
/** sysexits' EX_CONFIG, as config.ts uses it. */
const EXIT_CONFIG = 78;

/** The edge waits for the same time. The proxy gives up a little sooner, because it knows which node was slow. */
const beforeTheEdge = (milliseconds: number): number => milliseconds - Math.min(2_000, 0.05 * milliseconds);

const config = loadConfigOrExit('proxy');
const log = createLogger('proxy', config.logLevel);
const source = createRoutingSource(config);

let reload = async (): Promise<void> => undefined;
// Before it serves there is nothing to read again; without a listener the signal would end the process.
process.on('SIGHUP', () => void reload());

const routing = await source.load().catch((error: unknown) => {
  if (!(error instanceof RoutingFileError)) throw error;
  for (const line of error.lines) process.stderr.write(`configuration: ${line}\n`);
  process.exit(EXIT_CONFIG);
});

const warnOfFaults = async (orm: MikroORM, { deployments }: Routing): Promise<void> => {
  for (const fault of await routingFaults(orm, deployments)) log.warn(fault);
};

/** Reads the routing file again for calls from now on. A faulty one changes nothing. */
async function readAgain(proxy: ModelProxy, orm: MikroORM): Promise<void> {
  try {
    const next = await source.load();
    proxy.reload(next);
    log.info({ deployments: next.deployments.length }, 'the routing file has been read again');
    await warnOfFaults(orm, next);
  } catch (error) {
    if (error instanceof RoutingFileError)
      log.error({ faults: error.lines }, 'the routing file is faulty, the former routing stays');
    else log.error({ error }, 'the routing could not be read again in full');
  }
}

await startOrExit('proxy', async () => {
  const orm = openWithoutMigrations({
    databaseUrl: config.databaseUrl!,
    pooled: isPooled(config),
    processName: 'proxy',
    poolSize: POOL_SIZE,
  });
  await waitForSchema(orm);
  await warnOfFaults(orm, routing);

  const registry = createRegistry('proxy');
  const tracing = await openTracing(config.tracing, 'proxy', log);
  const proxy = createProxy({
    routing,
    keys: createVirtualKeys({ orm, clock: systemClock, log }),
    masterKey: config.upstreamMasterKey,
    timeouts: {
      firstByteMs: beforeTheEdge(config.upstreamTimeoutMs),
      idleMs: beforeTheEdge(config.upstreamIdleMs),
    },
    log,
    registry,
    tracing,
  });
  const steering = followNodes({ orm, databaseUrl: config.databaseDirectUrl!, proxy, log });
  await within(FIRST_READING_MS, steering.began);
  const url = await proxy.app.listen({ port: config.proxyPort, host: config.host });
  let reading = Promise.resolve();
  reload = () => {
    reading = reading.then(() => readAgain(proxy, orm));
    return reading;
  };
  if (config.metricsPort !== null) {
    const { metricsHost: host, metricsPort: port } = config;
    await startMetricsListener({ registry, host, port, ready: proxy.ready });
  }
  onShutdown(
    log,
    async () => {
      await proxy.close();
      await steering.stop();
      await within(GOODBYE_MS, tracing?.close() ?? Promise.resolve());
      await source.close();
      await orm.close();
    },
    { timeoutMs: SHUTDOWN_TIMEOUT_MS },
  );
  log.info({ url, simulated: source.simulated(), deployments: routing.deployments.length }, 'listening');
  announceReady(url);
});
