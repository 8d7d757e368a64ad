import type { Registry } from 'prom-client';
import type { Config } from '../../config.js';
import type { Clock } from '../../lib/clock.js';
import type { Logger } from '../../lib/logger.js';
import type { Catalog } from '../catalog.js';
import type { KeyCache } from '../keys/key-cache.js';
import type { ModelRoutes } from '../model-routes.js';
import type { Payer } from '../payer.js';
import { createAdmissionControl } from './admission-control.js';
import type { EdgeIdentity } from './edge-identity.js';
import type { Counters, Limits } from './limits.js';
import { createLimitsMetrics } from './limits-metrics.js';
import { localCounters } from './local-counters.js';
import { OpenHolds } from './open-holds.js';
import { createMaxPriceLookup } from './price-ceiling.js';
import { createRedisCounters } from './shared/redis-counters.js';

export interface LimitTimeouts {
  /** How long a call waits for Redis. */
  redisMs: number;
  /** How long a call near the floor waits for another call's hold to settle. */
  queueMs: number;
  /** The time between two heartbeats. */
  beatMs?: number;
}

export interface LimitsDeps {
  config: Pick<Config, 'redisUrl' | 'upstreamTimeoutMs' | 'upstreamIdleMs'>;
  cache: KeyCache;
  catalog: Catalog;
  routes: Pick<ModelRoutes, 'fallbacksOf' | 'version'>;
  clock: Clock;
  log: Logger;
  registry: Registry;
  identity: EdgeIdentity;
  /** Reads a payer again. Without it, only API keys are read. */
  readAgain?: (payer: Payer) => Promise<void>;
  /** Without Redis: whether this edge is the only one, and so may admit calls. */
  mayAdmit(): boolean;
  /** For tests, so that a busy machine doesn't look like an outage of Redis. */
  timeouts?: LimitTimeouts | undefined;
}

/** Creates this edge's limits: in memory, or shared with other edges over Redis. */
export async function createLimits(deps: LimitsDeps): Promise<Limits> {
  const { config, cache, catalog, clock, log, registry } = deps;
  const holds = new OpenHolds();
  return createAdmissionControl({
    counters: await createCounters(deps),
    cache,
    catalog,
    ceilingOf: createMaxPriceLookup(catalog, deps.routes),
    clock,
    log,
    metrics: createLimitsMetrics(registry, () => holds.size),
    holds,
    queueMs: deps.timeouts?.queueMs,
    callTimeoutMs: config.upstreamTimeoutMs + config.upstreamIdleMs,
  });
}

async function createCounters(deps: LimitsDeps): Promise<Counters> {
  const { config, cache, clock, log, registry, identity } = deps;
  if (config.redisUrl) {
    return createRedisCounters({
      url: config.redisUrl,
      timeoutMs: deps.timeouts?.redisMs,
      beatMs: deps.timeouts?.beatMs,
      readAgain: deps.readAgain ?? (({ hash }) => cache.renew(hash)),
      ...{ identity, clock, log, registry },
    });
  }
  return localCounters(clock, deps.mayAdmit);
}
