import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { systemClock } from '../../src/lib/clock.js';
import { createLogger } from '../../src/lib/logger.js';
import { createProxy, type ProxyDeps } from '../../src/proxy/app.js';
import { parseRouting } from '../../src/proxy/config-file.js';
import { followNodes } from '../../src/proxy/node-steering.js';
import type { RouterSettings, Routing } from '../../src/proxy/routing.js';
import { type Simulator, startSimulator } from '../../src/proxy/simulator/server.js';
import { createVirtualKeys } from '../../src/proxy/virtual-keys.js';
import type { TestDatabase } from './database.js';
import { TEST_SECRETS } from './secrets.js';

export interface TestProxy {
  url: string;
  masterKey: string;
  /** With its `/v1`. */
  simulatorUrl: string;
  simulator: Simulator;
  /** Routes by another file's text. */
  reload(file: string): void;
  close(): Promise<void>;
}

export interface TestProxyOptions {
  /** Text of a routing file instead of proxy.config.yaml. */
  config?: string;
  /** In place of the file's. */
  settings?: Partial<RouterSettings>;
  /** Variables that the file refers to. */
  environment?: Record<string, string>;
  timeoutMs?: number;
  idleMs?: number;
  /** Another database than the test's own, e.g. a dead one. */
  orm?: TestDatabase['orm'];
  registry?: ProxyDeps['registry'];
  log?: ProxyDeps['log'];
  time?: ProxyDeps['time'];
  random?: ProxyDeps['random'];
  bounds?: ProxyDeps['bounds'];
  answerBytes?: ProxyDeps['answerBytes'];
  /** Goes by the node registry in `db`. */
  followNodes?: boolean;
  /** How often it polls the registry. */
  nodePollMs?: number;
}

/** The model proxy on a free port, in process, in front of a simulator of its own. Virtual keys lie in `db`. */
export async function startTestProxy(db: TestDatabase, options: TestProxyOptions = {}): Promise<TestProxy> {
  const simulator = await startSimulator({ clock: systemClock, models: [] });
  const log = options.log ?? createLogger('proxy', 'silent');
  const text = options.config ?? readFileSync(resolve('proxy.config.yaml'), 'utf8');
  const environment = { SIMULATOR_API_BASE: simulator.url, ...options.environment };
  const masterKey = TEST_SECRETS.UPSTREAM_MASTER_KEY;
  const read = (file: string): Routing => {
    const routing = parseRouting(file, 'proxy.config.yaml', environment);
    return { ...routing, settings: { ...routing.settings, ...options.settings } };
  };
  const proxy = createProxy({
    routing: read(text),
    keys: createVirtualKeys({ orm: options.orm ?? db.sql, clock: systemClock, log }),
    masterKey,
    timeouts: { firstByteMs: options.timeoutMs ?? 10_000, idleMs: options.idleMs ?? 10_000 },
    log,
    registry: options.registry,
    time: options.time,
    random: options.random,
    bounds: options.bounds,
    answerBytes: options.answerBytes,
    drainTimeoutMs: 2_000,
  });
  const steering = options.followNodes
    ? followNodes({ orm: db.sql, databaseUrl: db.url, proxy, log, pollMs: options.nodePollMs })
    : undefined;
  await steering?.began;
  const url = await proxy.app.listen({ port: 0, host: '127.0.0.1' });
  return {
    url,
    masterKey,
    simulatorUrl: simulator.url,
    simulator,
    reload: (file) => proxy.reload(read(file)),
    async close() {
      await proxy.close();
      await steering?.stop();
      await simulator.close();
    },
  };
}
