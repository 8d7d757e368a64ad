import { type Config, loadConfigOrExit } from '../config.js';
import { openOrm } from '../db/orm.js';
import { waitForSchema } from '../db/wait-for-schema.js';
import { systemClock } from '../lib/clock.js';
import { announceReady, onShutdown, startOrExit } from '../lib/lifecycle.js';
import { createLogger } from '../lib/logger.js';
import { createRegistry, startMetricsListener } from '../lib/metrics.js';
import { createProxy } from './app.js';
import {
  masterKeyFault,
  parseRouting,
  RoutingFileError,
  readRoutingText,
  SIMULATOR_VARIABLE,
  simulatorFault,
  wantsSimulator,
} from './config-file.js';
import { priceFaults } from './price-check.js';
import type { Routing } from './routing.js';
import { type Simulator, startSimulator } from './simulator/server.js';
import { createVirtualKeys } from './virtual-keys.js';

const POOL_SIZE = 4;
const SHUTDOWN_TIMEOUT_MS = 33_000;
/** sysexits' EX_CONFIG, as config.ts uses it. */
const EXIT_CONFIG = 78;

/**
 * The edge waits as long as the same settings say. We give up a little sooner, so that it is us who knows which node was
 * slow, and not an edge that leaves.
 */
const beforeTheEdge = (milliseconds: number): number => milliseconds - Math.min(2_000, 0.05 * milliseconds);

/** The routing, with the bundled simulator started when the file points at it and nothing else stands there. */
async function loadRouting(config: Config): Promise<{ routing: Routing; simulator: Simulator | undefined }> {
  const { text, name } = readRoutingText(config.proxyConfigPath);
  const given = config.environment[SIMULATOR_VARIABLE];
  // Read once before anything runs: a faulty file, or one that must not serve, starts no simulator.
  const placeholder = { ...config.environment, [SIMULATOR_VARIABLE]: given || 'http://127.0.0.1/v1' };
  const draft = parseRouting(text, name, placeholder);
  const fault = simulatorFault(draft, config) ?? masterKeyFault(draft, name, config);
  if (fault) throw new RoutingFileError([fault]);
  if (given || !wantsSimulator(draft)) return { routing: draft, simulator: undefined };
  const models = draft.deployments.filter(({ simulated }) => simulated).map((entry) => entry.upstreamModel);
  const simulator = await startSimulator({ clock: systemClock, models: [...new Set(models)] });
  const environment = { ...config.environment, [SIMULATOR_VARIABLE]: simulator.url };
  return { routing: parseRouting(text, name, environment), simulator };
}

const config = loadConfigOrExit('proxy');
const log = createLogger('proxy', config.logLevel);
const { routing, simulator } = await loadRouting(config).catch((error: unknown) => {
  if (!(error instanceof RoutingFileError)) throw error;
  for (const line of error.lines) process.stderr.write(`configuration: ${line}\n`);
  process.exit(EXIT_CONFIG);
});

await startOrExit('proxy', async () => {
  const orm = await openOrm({ databaseUrl: config.databaseUrl!, processName: 'proxy', poolSize: POOL_SIZE });
  await waitForSchema(orm);

  for (const fault of await priceFaults(orm, routing.deployments)) log.warn(fault);

  const registry = createRegistry('proxy');
  const proxy = createProxy({
    routing,
    keys: createVirtualKeys({ orm, clock: systemClock, log }),
    masterKey: config.upstreamMasterKey,
    timeouts: { firstByteMs: beforeTheEdge(config.upstreamTimeoutMs), idleMs: beforeTheEdge(config.upstreamIdleMs) },
    log,
    registry,
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
      await simulator?.close();
      await orm.close();
    },
    { timeoutMs: SHUTDOWN_TIMEOUT_MS },
  );
  log.info({ url, simulated: simulator !== undefined, deployments: routing.deployments.length }, 'listening');
  announceReady(url);
});
