import type { MikroORM } from '@mikro-orm/postgresql';
import type { Registry } from 'prom-client';
import type { Config } from '../config.js';
import { systemClock } from '../lib/clock.js';
import type { JsonReader } from '../lib/json-reader.js';
import type { Logger } from '../lib/logger.js';
import { within } from '../lib/within.js';
import { followFile } from './follow-file.js';
import { createModelRouter, type ModelRouter } from './model-router.js';
import { followNodes } from './node-steering.js';
import { routingFaults } from './price-check.js';
import { RouterUpstream } from './router-upstream.js';
import type { Routing } from './routing.js';
import {
  createRoutingSource,
  loadOrExit,
  type RoutingSource,
  type StartSimulator,
} from './routing-source.js';
import { createVirtualKeys, type VirtualKeys } from './virtual-keys.js';

/** To read the node registry before the first call: until then calls would go to nodes that take none. */
const FIRST_READING_MS = 2_000;

export interface RouterProcess {
  config: Config;
  orm: MikroORM;
  log: Logger;
  registry: Registry;
  json: JsonReader;
  /** Milliseconds that a call waits where the routing file says nothing. */
  timeouts: { firstByteMs: number; idleMs: number };
  /** Whether this process logs prices that differ from the model table's. One kind of process does. */
  logsPrices: boolean;
}

/** The routing file as a process starts with it. */
export interface LoadedRouting {
  source: RoutingSource;
  routing: Routing;
}

/** The router of a process, with all that keeps it up to date. */
export interface OpenRouter {
  router: ModelRouter;
  keys: VirtualKeys;
  upstream: RouterUpstream;
  /** What the edge and the pages say of models, read from the routing in force. */
  routes: {
    /** `simulator` where the simulator answers, so that nobody takes it for a model. */
    ownerOf(publicName: string): string;
    /** Public names of the models that the simulator answers. */
    simulated(): string[];
    /** The models that may stand in for one. */
    fallbacksOf(publicName: string): readonly string[];
    /** Rises with every reading of the file. */
    version(): number;
  };
  /** Ends calls that are left, and removes its report from the node registry. */
  close(): Promise<void>;
}

/** Reads the routing file before anything else starts, or ends the process with its faults on stderr. */
export async function loadRouting(config: Config, startSimulator: StartSimulator): Promise<LoadedRouting> {
  // Until the file is followed there is nothing to read again; without a listener the signal would end the process.
  process.on('SIGHUP', () => undefined);
  const source = createRoutingSource(config, startSimulator);
  return { source, routing: await loadOrExit(source) };
}

/** Opens the router of a process. The database has the schema already. */
export async function openRouter(
  { source, routing }: LoadedRouting,
  { config, orm, log, registry, json, timeouts, logsPrices }: RouterProcess,
): Promise<OpenRouter> {
  const router = createModelRouter({ routing, timeouts, log, registry, json });
  const keys = createVirtualKeys({ orm, clock: systemClock, log });
  const logPrices = async ({ deployments }: Routing): Promise<void> => {
    if (!logsPrices) return;
    for (const fault of await routingFaults(orm, deployments)) log.warn(fault);
  };
  await logPrices(routing);
  const steering = followNodes({ orm, databaseUrl: config.databaseDirectUrl!, router, log });
  await within(FIRST_READING_MS, steering.began);
  let version = 0;
  const unfollow = followFile(source, log, (next) => {
    router.reload(next);
    version++;
    return logPrices(next);
  });
  return {
    router,
    keys,
    upstream: new RouterUpstream(router.calls, keys, log),
    routes: { ...routeTable(router), version: () => version },
    async close() {
      unfollow();
      router.close();
      await steering.stop();
      await source.close();
    },
  };
}

/** What is said of models, by the routing in force. */
export const routeTable = (router: ModelRouter): Omit<OpenRouter['routes'], 'version'> => ({
  ownerOf: (name) =>
    router
      .current()
      .models()
      .find((model) => model.name === name)?.ownedBy ?? 'gateway',
  simulated: () =>
    router
      .current()
      .models()
      .flatMap(({ name, ownedBy }) => (ownedBy === 'simulator' ? [name] : [])),
  fallbacksOf: (name) => router.current().settings.fallbacks.get(name) ?? [],
});
