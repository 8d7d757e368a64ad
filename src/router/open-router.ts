import type { MikroORM } from '@mikro-orm/postgresql';
import type { Registry } from 'prom-client';
import type { Config } from '../config.js';
import { systemClock } from '../lib/clock.js';
import type { JsonReader } from '../lib/json-reader.js';
import type { Logger } from '../lib/logger.js';
import { within } from '../lib/within.js';
import { createModelRouter, type ModelRouter } from './model-router.js';
import { followNodes } from './node-steering.js';
import { routingFaults } from './price-check.js';
import { RouterUpstream } from './router-upstream.js';
import type { Routing } from './routing.js';
import {
  createRoutingSource,
  followFile,
  loadOrExit,
  type RoutingSource,
  type StartSimulator,
} from './routing-source.js';
import { createVirtualKeys, type VirtualKeys } from './virtual-keys.js';

/** How long a start waits for the node registry. Before it is read, calls would go to closed nodes. */
const FIRST_READING_MS = 2_000;

export interface RouterProcess {
  config: Config;
  orm: MikroORM;
  log: Logger;
  registry: Registry;
  json: JsonReader;
  /** Default timeouts where the routing file sets none. */
  timeouts: { firstByteMs: number; idleMs: number };
  /** Whether to log settings that are ignored, and prices that differ from the model table's. Only one kind of process does. */
  logsFaults: boolean;
}

/** The routing file that a process starts with. */
export interface LoadedRouting {
  source: RoutingSource;
  routing: Routing;
}

/** The router of a process, kept up to date with the routing file and the node registry. */
export interface OpenRouter {
  router: ModelRouter;
  keys: VirtualKeys;
  upstream: RouterUpstream;
  /** Facts about models for the edge and the pages, from the routing in force. */
  routes: {
    /** `simulator` if the simulator answers for the model, else `gateway`. */
    ownerOf(publicName: string): string;
    /** Public names of the models that the simulator answers. */
    simulated(): string[];
    fallbacksOf(publicName: string): readonly string[];
    /** Increases with each reading of the file. */
    version(): number;
  };
  /** Aborts the calls that are left and removes this process's report. */
  close(): Promise<void>;
}

/** Reads the routing file before anything else starts. Prints the faults of an invalid file and exits. */
export async function loadRouting(config: Config, startSimulator: StartSimulator): Promise<LoadedRouting> {
  // Without a listener, a signal before the file is followed would end the process.
  process.on('SIGHUP', () => undefined);
  const source = createRoutingSource(config, startSimulator);
  return { source, routing: await loadOrExit(source) };
}

/** Opens the router of a process. Requires the database schema. */
export async function openRouter(
  { source, routing }: LoadedRouting,
  { config, orm, log, registry, json, timeouts, logsFaults }: RouterProcess,
): Promise<OpenRouter> {
  const router = createModelRouter({ routing, timeouts, log, registry, json });
  const keys = createVirtualKeys({ orm, clock: systemClock, log });
  const logFaults = async ({ deployments, ignored }: Routing): Promise<void> => {
    if (!logsFaults) return;
    if (ignored.length > 0)
      log.warn({ settings: ignored }, 'the routing file has settings that have no effect here');
    for (const fault of await routingFaults(orm, deployments)) log.warn(fault);
  };
  await logFaults(routing);
  const steering = followNodes({ orm, databaseUrl: config.databaseDirectUrl!, router, log });
  await within(FIRST_READING_MS, steering.began);
  let version = 0;
  const unfollow = followFile(source, log, (next) => {
    router.reload(next);
    version++;
    return logFaults(next);
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
