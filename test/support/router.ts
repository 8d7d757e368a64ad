import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { systemClock } from '../../src/lib/clock.js';
import { JsonReader } from '../../src/lib/json-reader.js';
import { createLogger } from '../../src/lib/logger.js';
import { WorkerThread } from '../../src/lib/worker-thread.js';
import type { Simulator } from '../../src/proxy/simulator/server.js';
import { startSimulator } from '../../src/proxy/simulator/server.js';
import { parseRouting } from '../../src/router/config-file.js';
import { createModelRouter, type ModelRouter, type ModelRouterDeps } from '../../src/router/model-router.js';
import { followNodes } from '../../src/router/node-steering.js';
import { routeTable } from '../../src/router/open-router.js';
import { RouterUpstream } from '../../src/router/router-upstream.js';
import type { RouterSettings, Routing } from '../../src/router/routing.js';
import { createVirtualKeys, type VirtualKeys } from '../../src/router/virtual-keys.js';
import type { TestDatabase } from './database.js';

export interface TestRouterOptions
  extends Pick<ModelRouterDeps, 'registry' | 'time' | 'random' | 'answerBytes'> {
  /** Text of a routing file instead of proxy.config.yaml. */
  config?: string;
  /** Overrides the file's settings. */
  settings?: Partial<RouterSettings>;
  /** Variables that the file refers to. */
  environment?: Record<string, string>;
  timeoutMs?: number;
  idleMs?: number;
  /** Another database, such as a dead one. */
  orm?: TestDatabase['orm'];
  log?: ModelRouterDeps['log'];
  /** Whether to follow the node registry in `db`. */
  followNodes?: boolean;
  /** How often it polls the registry. */
  nodePollMs?: number;
}

export interface TestRouter {
  router: ModelRouter;
  keys: VirtualKeys;
  upstream: RouterUpstream;
  routes: ReturnType<typeof routeTable> & { version(): number };
  /** With its `/v1`. */
  simulatorUrl: string;
  simulator: Simulator;
  /** A new virtual key of an account. */
  newKey(account?: string): Promise<string>;
  /** Switches to the text of another file. */
  reload(file: string): void;
  close(): Promise<void>;
}

/** The router with a separate simulator. Virtual keys are in `db`. */
export async function startTestRouter(
  db: TestDatabase,
  options: TestRouterOptions = {},
): Promise<TestRouter> {
  const simulator = await startSimulator({ clock: systemClock, models: [] });
  const log = options.log ?? createLogger('router', 'silent');
  const text = options.config ?? readFileSync(resolve('proxy.config.yaml'), 'utf8');
  const environment = { SIMULATOR_API_BASE: simulator.url, ...options.environment };
  const read = (file: string): Routing => {
    const routing = parseRouting(file, 'proxy.config.yaml', environment);
    return { ...routing, settings: { ...routing.settings, ...options.settings } };
  };
  const { registry, time, random, answerBytes } = options;
  const json = new JsonReader(new WorkerThread(log));
  const router = createModelRouter({
    routing: read(text),
    timeouts: { firstByteMs: options.timeoutMs ?? 10_000, idleMs: options.idleMs ?? 10_000 },
    ...{ log, registry, json, time, random, answerBytes },
  });
  const keys = createVirtualKeys({ orm: options.orm ?? db.sql, clock: systemClock, log });
  const steering = options.followNodes
    ? followNodes({ orm: db.sql, databaseUrl: db.url, router, log, pollMs: options.nodePollMs })
    : undefined;
  await steering?.began;
  let version = 0;
  return {
    router,
    keys,
    upstream: new RouterUpstream(router.calls, keys, log),
    routes: { ...routeTable(router), version: () => version },
    simulatorUrl: simulator.url,
    simulator,
    newKey: async (account = 'someone') => (await keys.generate({ userId: account, keyAlias: null })).key,
    reload(file) {
      router.reload(read(file));
      version++;
    },
    async close() {
      router.close();
      await json.close();
      await steering?.stop();
      await simulator.close();
    },
  };
}
