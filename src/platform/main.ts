import type { AddressInfo } from 'node:net';
import { loadConfigOrExit } from '../config.js';
import { pgPool } from '../db/connection.js';
import { openOrm } from '../db/orm.js';
import { isPooled } from '../db/pooled.js';
import { databaseReadiness } from '../db/readiness.js';
import { waitForDatabase } from '../db/wait.js';
import { openModelProxy } from '../inference/model-proxy.js';
import { systemClock } from '../lib/clock.js';
import { collectWhenIdle } from '../lib/collect-when-idle.js';
import { createEgress } from '../lib/egress/egress.js';
import { JsonReader } from '../lib/json-reader.js';
import { announceReady, onShutdown, startOrExit } from '../lib/lifecycle.js';
import { createLogger } from '../lib/logger.js';
import { createRegistry, startMetricsListener } from '../lib/metrics.js';
import { openTracing } from '../lib/tracing/open-tracing.js';
import type { Upstream } from '../lib/upstream/upstream.js';
import { within } from '../lib/within.js';
import { WorkerThread } from '../lib/worker-thread.js';
import { loadWebBuild } from '../pages/web-build.js';
import { simulatorOnDemand } from '../proxy/simulator/on-demand.js';
import { loadRouting, openRouter } from '../router/open-router.js';
import { createPasswords } from '../services/accounts/passwords.js';
import { routingOfFile, routingOfProxy } from '../services/admin/routing.js';
import type { ServiceDeps } from '../services/deps.js';
import { createEnvelopes } from '../services/envelopes.js';
import { storedVirtualKeys } from '../services/keys/stored-virtual-keys.js';
import { createVirtualKeyClient } from '../services/keys/virtual-keys.js';
import { type OpenSignals, openSignals } from '../services/live/open-signals.js';
import { openPlayground, type Playground } from '../services/playground/open-playground.js';
import { migrateAndSeedOrExit } from '../services/startup.js';
import { createServices } from '../services.js';
import { createPlatform, type Platform } from './app.js';

const POOL_SIZE = 8;
/** Requests in progress get 30 s (the request timeout), then the process ends. */
const STOP_MS = 32_000;
const GOODBYE_MS = 1_000;

const config = loadConfigOrExit('platform');
const log = createLogger('platform', config.logLevel);
// Without a model proxy the router runs here, for the playground.
const routing = config.upstreamUrl === null ? await loadRouting(config, simulatorOnDemand) : undefined;
const tracing = await openTracing(config.tracing, 'platform', log);
const registry = createRegistry('platform');
const json = new JsonReader(new WorkerThread(log));
const orm = openOrm({
  databaseUrl: config.databaseUrl!,
  pooled: isPooled(config),
  processName: 'platform',
  poolSize: POOL_SIZE,
});
let platform: Platform | undefined;
let signals: OpenSignals | undefined;
let playground: Playground | undefined;
let models: Models | undefined;
let serving = false;

/** The upstream of the playground, and what is known about models. */
interface Models extends Pick<ServiceDeps, 'virtualKeys' | 'askRouting'> {
  upstream: Upstream;
  routes: ServiceDeps['modelRoutes'];
  close(): Promise<void>;
}

async function openModels(): Promise<Models> {
  const { upstreamUrl, upstreamMasterKey: masterKey } = config;
  if (!routing) {
    // There is no routing file to reload, and the signal must not end the process.
    process.on('SIGHUP', () => undefined);
    const url = upstreamUrl!;
    const virtualKeys = createVirtualKeyClient({ url, masterKey });
    return { ...openModelProxy(url, masterKey), virtualKeys, askRouting: routingOfProxy(url, masterKey) };
  }
  const timeouts = { firstByteMs: config.upstreamTimeoutMs, idleMs: config.upstreamIdleMs };
  const { router, keys, upstream, routes, close } = await openRouter(routing, {
    ...{ config, orm, log, registry, json, timeouts },
    // The edge logs them.
    logsFaults: false,
  });
  const askRouting = routingOfFile(() => router.routing());
  return { upstream, routes, virtualKeys: storedVirtualKeys(keys), askRouting, close };
}

function sayTopUp(): void {
  if (config.topUp === 'off') log.info('top-ups are off: only administrators add credit (TOPUP=off)');
  else if (config.production) log.warn('anyone who signs up can add credit without paying (TOPUP=mock)');
}

onShutdown(
  log,
  async () => {
    serving = false;
    // Requests wait for runs, so both end together.
    await Promise.all([platform?.close(), playground?.stop()]);
    await Promise.all([signals?.stop(), within(GOODBYE_MS, models?.close() ?? Promise.resolve())]);
    await within(GOODBYE_MS, tracing?.close() ?? Promise.resolve());
    await orm.close(true);
  },
  { timeoutMs: STOP_MS },
);

await startOrExit('platform', async () => {
  await waitForDatabase(orm, log);
  (await pgPool(orm)).on('error', (error) => log.warn({ err: error }, 'lost a database connection'));
  const pseudonyms = await migrateAndSeedOrExit(orm, config, log);
  const passwords = createPasswords(config.passwordHashing);
  await passwords.dummyHash();

  const databaseIsReady = databaseReadiness(orm);
  const ready = async (): Promise<boolean> => serving && databaseIsReady();

  signals = openSignals(config, log);
  const em = () => orm.em.fork();
  models = await openModels();
  const { upstream } = models;
  playground = openPlayground({ config, clock: systemClock, log, registry, json, signals, em, upstream });
  const services = createServices({
    config,
    clock: systemClock,
    playground,
    envelopes: createEnvelopes(config),
    passwords,
    pseudonyms,
    virtualKeys: models.virtualKeys,
    modelRoutes: models.routes,
    askRouting: models.askRouting,
    signals,
    egress: createEgress({ allowPrivate: config.webhookAllowPrivate }),
  });
  sayTopUp();
  const web = loadWebBuild();
  if (!web) log.warn('the web pages aren\'t built and return 503; run "npm run build"');
  platform = await createPlatform({
    config,
    orm,
    services,
    clock: systemClock,
    log,
    registry,
    signals,
    ready,
    web,
    tracing,
  });
  if (config.metricsPort !== null) {
    await startMetricsListener({
      registry,
      host: config.metricsHost,
      port: config.metricsPort,
      ready,
    });
  }
  // Loopback, unless it is started alone in its own network.
  await platform.app.listen({ host: config.host, port: config.platformPort });
  serving = true;
  const { address, port, family } = platform.app.server.address() as AddressInfo;
  const host = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;
  const url = `http://${family === 'IPv6' && host.includes(':') ? `[${host}]` : host}:${port}`;
  log.info({ url }, 'platform listens');
  announceReady(url);
  collectWhenIdle();
});
