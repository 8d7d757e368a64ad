import type { AddressInfo } from 'node:net';
import { loadConfigOrExit } from '../config.js';
import { pgPool } from '../db/connection.js';
import { openOrm } from '../db/orm.js';
import { isPooled } from '../db/pooled.js';
import { databaseReadiness } from '../db/readiness.js';
import { waitForDatabase } from '../db/wait.js';
import { createModelRoutes, type ModelRoutes } from '../inference/model-routes.js';
import { systemClock } from '../lib/clock.js';
import { createEgress } from '../lib/egress/egress.js';
import { announceReady, onShutdown, startOrExit } from '../lib/lifecycle.js';
import { createLogger } from '../lib/logger.js';
import { createRegistry, startMetricsListener } from '../lib/metrics.js';
import { openTracing } from '../lib/tracing/open-tracing.js';
import { within } from '../lib/within.js';
import { loadWebBuild } from '../pages/web-build.js';
import { createPasswords } from '../services/accounts/passwords.js';
import { createEnvelopes } from '../services/envelopes.js';
import { createVirtualKeyClient } from '../services/keys/virtual-keys.js';
import { type OpenSignals, openSignals } from '../services/live/open-signals.js';
import { openPlayground, type Playground } from '../services/playground/open-playground.js';
import { migrateAndSeedOrExit } from '../services/startup.js';
import { createServices } from '../services.js';
import { createPlatform, type Platform } from './app.js';

const POOL_SIZE = 8;
/** Requests in flight get 30 s (the request timeout), then the process ends. */
const STOP_MS = 32_000;
const GOODBYE_MS = 1_000;

const config = loadConfigOrExit('platform');
const log = createLogger('platform', config.logLevel);
const tracing = await openTracing(config.tracing, 'platform', log);
const registry = createRegistry('platform');
const orm = openOrm({
  databaseUrl: config.databaseUrl!,
  pooled: isPooled(config),
  processName: 'platform',
  poolSize: POOL_SIZE,
});
let platform: Platform | undefined;
let signals: OpenSignals | undefined;
let playground: Playground | undefined;
let modelRoutes: ModelRoutes | undefined;
let serving = false;

onShutdown(
  log,
  async () => {
    serving = false;
    // Requests wait for runs, so both end together.
    await Promise.all([platform?.close(), playground?.stop()]);
    await Promise.all([signals?.stop(), modelRoutes?.stop()]);
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
  playground = openPlayground({ config, clock: systemClock, log, registry, signals, em });
  const upstream = new URL(config.upstreamUrl);
  modelRoutes = createModelRoutes(
    upstream.origin,
    upstream.pathname.replace(/\/$/, ''),
    config.upstreamMasterKey,
  );
  const services = createServices({
    config,
    clock: systemClock,
    playground,
    envelopes: createEnvelopes(config),
    passwords,
    pseudonyms,
    virtualKeys: createVirtualKeyClient({ url: config.upstreamUrl, masterKey: config.upstreamMasterKey }),
    modelRoutes,
    signals,
    egress: createEgress({ allowPrivate: config.webhookAllowPrivate }),
  });
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
  // Loopback unless it is started alone in a network of its own.
  await platform.app.listen({ host: config.host, port: config.platformPort });
  serving = true;
  const { address, port, family } = platform.app.server.address() as AddressInfo;
  const host = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;
  const url = `http://${family === 'IPv6' && host.includes(':') ? `[${host}]` : host}:${port}`;
  log.info({ url }, 'platform listens');
  announceReady(url);
});
