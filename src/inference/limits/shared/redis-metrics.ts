import { Counter, Gauge, type Registry } from 'prom-client';

/** Metrics of limits shared over Redis. Every name is explained in docs/operations.md. */
export interface RedisMetrics {
  shared(yes: boolean): void;
  edges(count: number): void;
  failed(): void;
  /** Whether Redis removes keys when its memory is full. */
  evicts(yes: boolean): void;
}

export function createRedisMetrics(registry: Registry): RedisMetrics {
  const registers = [registry];
  const shared = new Gauge({
    name: 'gateway_limits_shared',
    help: '1 while limits are shared through Redis, 0 while this edge enforces its own share',
    registers,
  });
  const alive = new Gauge({
    name: 'gateway_edges_alive',
    help: 'Number of edges that share the limits, as last seen',
    registers,
  });
  const evicts = new Gauge({
    name: 'gateway_redis_evicts',
    help: '1 if the maxmemory-policy of Redis is not noeviction',
    registers,
  });
  const failures = new Counter({
    name: 'gateway_redis_failures_total',
    help: 'Limit commands that Redis did not answer within 50 ms',
    registers,
  });
  return {
    shared: (yes) => shared.set(yes ? 1 : 0),
    edges: (count) => alive.set(count),
    failed: () => failures.inc(),
    evicts: (yes) => evicts.set(yes ? 1 : 0),
  };
}
