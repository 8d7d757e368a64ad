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
import { createPriceCeilings } from './price-ceiling.js';
import { createRedisCounters } from './shared/redis-counters.js';

/**
 * How long callers wait, in milliseconds: for Redis, and near the floor for a hold of another to settle. `beatMs` is the
 * time between two heartbeats.
 */
export interface LimitTimeouts {
  redisMs: number;
  queueMs: number;
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
  /** Reads a payer again; those that aren't API keys are read elsewhere. */
  readAgain?: (payer: Payer) => Promise<void>;
  /** Without Redis: whether this edge is the one that may admit calls. */
  mayAdmit(): boolean;
  /** For tests of what is exact: a busy machine is not a Redis that doesn't answer. */
  timeouts?: LimitTimeouts | undefined;
}

/** The limits of this edge: in memory, or shared with other edges over Redis. */
export async function createLimits(deps: LimitsDeps): Promise<Limits> {
  const { config, cache, catalog, clock, log, registry } = deps;
  const holds = new OpenHolds();
  return createAdmissionControl({
    counters: await createCounters(deps),
    cache,
    catalog,
    ceilingOf: createPriceCeilings(catalog, deps.routes),
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
