import { Counter, Gauge, type Registry } from 'prom-client';
import { countEdges } from './limits-metrics.js';

/** Metrics of limits shared over Redis. Every name is explained in docs/operations.md. */
export interface RedisMetrics {
  shared(yes: boolean): void;
  edges(alive: number): void;
  failed(): void;
}

export function createRedisMetrics(registry: Registry): RedisMetrics {
  const registers = [registry];
  const shared = new Gauge({
    name: 'gateway_limits_shared',
    help: '1 while limits are shared through Redis, 0 while this edge enforces its own share',
    registers,
  });
  let lastSeen = 0;
  countEdges(registry, () => lastSeen);
  const failures = new Counter({
    name: 'gateway_redis_failures_total',
    help: 'Limit commands that Redis did not answer within 50 ms',
    registers,
  });
  return {
    shared: (yes) => shared.set(yes ? 1 : 0),
    edges(alive) {
      lastSeen = alive;
    },
    failed: () => failures.inc(),
  };
}
