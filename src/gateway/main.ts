import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { MikroORM } from '@mikro-orm/postgresql';
import { loadConfigOrExit } from '../config.js';
import { pgPool } from '../db/connection.js';
import { isPooled } from '../db/pooled.js';
import { waitForSchema } from '../db/wait-for-schema.js';
import { openWithoutMigrations } from '../db/without-migrations.js';
import { entities } from '../entities/index.js';
import { RedisClusterError } from '../inference/limits/shared/redis-link.js';
import { openModelProxy } from '../inference/model-proxy.js';
import { systemClock } from '../lib/clock.js';
import { collectWhenIdle } from '../lib/collect-when-idle.js';
import { JsonReader } from '../lib/json-reader.js';
import { announceReady, CONFIG_EXIT_CODE, onShutdown, PORT_TAKEN_EXIT_CODE } from '../lib/lifecycle.js';
import { createLogger } from '../lib/logger.js';
import { createRegistry, startMetricsListener } from '../lib/metrics.js';
import { openFilesLimit } from '../lib/open-files.js';
import { openTracing } from '../lib/tracing/open-tracing.js';
import { within } from '../lib/within.js';
import { WorkerThread } from '../lib/worker-thread.js';
import { createMeter } from '../metering/meter.js';
import { simulatorOnDemand } from '../proxy/simulator/on-demand.js';
import { loadRouting, openRouter } from '../router/open-router.js';
import { createEdge } from './app.js';
import { holdLeaderLock } from './leader-lock.js';
import { socketsWithin } from './resource-limits.js';

const POOL_SIZE = 6;
const GOODBYE_MS = 2_000;

/** A small body that a call keeps retains the whole pool block it was cut from, 64 KiB by default. */
Buffer.poolSize = 8 * 1024;

// By default V8 adapts heap growth to its own speed, which varies on a busy machine, and memory stays at the highest peak
// (docs/decisions/0188-old-objects-grow-evenly.md).
setFlagsFromString('--heap-growing-percent=200');

const config = loadConfigOrExit('edge');
const log = createLogger('edge', config.logLevel);
const registry = createRegistry('edge');
const json = new JsonReader(new WorkerThread(log));
// Without UPSTREAM_URL the router runs in this process. An invalid routing file ends the process before anything has started.
const routing = config.upstreamUrl === null ? await loadRouting(config, simulatorOnDemand) : undefined;

async function openModels(orm: MikroORM) {
  if (routing) {
    const timeouts = { firstByteMs: config.upstreamTimeoutMs, idleMs: config.upstreamIdleMs };
    return openRouter(routing, { ...{ config, orm, log, registry, json, timeouts }, logsFaults: true });
  }
  // There is no routing file to reload, and the signal must not end the process.
  process.on('SIGHUP', () => undefined);
  const proxy = openModelProxy(config.upstreamUrl!, config.upstreamMasterKey);
  await proxy.routes.ready;
  return proxy;
}

try {
  const orm = openWithoutMigrations(
    { databaseUrl: config.databaseUrl!, pooled: isPooled(config), processName: 'edge', poolSize: POOL_SIZE },
    entities,
  );
  await waitForSchema(orm);
  const lock = config.redisUrl ? undefined : await holdLeaderLock(config.databaseDirectUrl!, log);
  const pool = await pgPool(orm);
  const tracing = await openTracing(config.tracing, 'edge', log);
  const models = await openModels(orm);
  const edge = await createEdge({
    config,
    upstream: models.upstream,
    routes: models.routes,
    pool,
    clock: systemClock,
    log,
    registry,
    json,
    bounds: { sockets: socketsWithin(openFilesLimit()) },
    lock,
    tracing,
    createMeter: (onFlushed, identity) =>
      createMeter({
        ...identity,
        directory: join(config.dataDir, 'spool'),
        pool,
        log,
        registry,
        clock: systemClock,
        onFlushed,
        alone: !config.redisUrl,
      }),
  });
  let serving = false;
  if (config.metricsPort !== null) {
    await startMetricsListener({
      registry,
      host: config.metricsHost,
      port: config.metricsPort,
      ready: () => serving && edge.ready(),
      degraded: () => edge.degraded(),
    });
  }
  const url = await edge.listen();
  serving = true;
  log.info({ url }, 'the edge is ready');
  announceReady(url);
  collectWhenIdle();
  onShutdown(
    log,
    async () => {
      serving = false;
      await edge.close(config.drainMs);
      await json.close();
      await within(GOODBYE_MS, models.close());
      await lock?.release();
      await within(GOODBYE_MS, tracing?.close() ?? Promise.resolve());
      // Everything is written; a frozen database must not delay the exit.
      await within(GOODBYE_MS, orm.close(true));
    },
    { timeoutMs: config.stopMs },
  );
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  const inUse = code === 'EADDRINUSE';
  const line = inUse
    ? `port ${config.port} on ${config.host} is already in use: stop the other program or set PORT`
    : message;
  process.stderr.write(`edge: ${line}\n`);
  if (error instanceof RedisClusterError) process.exit(CONFIG_EXIT_CODE);
  process.exit(inUse ? PORT_TAKEN_EXIT_CODE : 1);
}
