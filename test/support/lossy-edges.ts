import { newId } from '../../src/lib/ids.js';
import { type Ledger, type LimitsEdge, type LimitsEdgeOptions, limitsEdge } from './limits.js';
import type { TestRedis } from './redis.js';
import { createTcpProxy, type TcpProxy } from './tcp-proxy.js';
import { until } from './until.js';

/** An edge that loses Redis only when a test wants it, however busy the machine is. */
export interface LossyEdge extends LimitsEdge {
  lose(): Promise<void>;
  /** Delays each command and response of Redis by `delayMs` until then. */
  regain(delayMs?: number): Promise<void>;
  close(): Promise<void>;
}

/** Edges with one account, each with a separate link to Redis. All share their limits. */
export async function lossyEdges(
  count: number,
  redis: TestRedis,
  ledger: Ledger,
  options: LimitsEdgeOptions = {},
): Promise<LossyEdge[]> {
  const ids = { accountId: newId(), keyId: newId() };
  const edges: LossyEdge[] = [];
  for (let i = 0; i < count; i++) {
    const link = await createTcpProxy(Number(new URL(redis.url).port));
    const patience = { redisMs: 10_000, queueMs: 50, beatMs: 20 };
    const edge = await limitsEdge(ledger, { ...ids, patience, ...options, redisUrl: link.urlOf(redis.url) });
    edges.push(Object.assign(edge, faultsOf(edge, link)));
  }
  for (const edge of edges) await until(async () => (await gauge(edge, 'gateway_edges_alive')) === count);
  return edges;
}

function faultsOf(edge: LimitsEdge, link: TcpProxy): Pick<LossyEdge, 'lose' | 'regain' | 'close'> {
  const shared = () => gauge(edge, 'gateway_limits_shared');
  return {
    async lose() {
      link.cut();
      await until(async () => (await shared()) === 0, { intervalMs: 1, what: 'the loss to be noticed' });
    },
    async regain(delayMs = 0) {
      link.restore();
      link.delay(delayMs);
      await until(async () => (await shared()) === 1, { intervalMs: 1, what: 'limits to be shared again' });
      link.restore();
    },
    async close() {
      await edge.limits.stop();
      await link.close();
    },
  };
}

async function gauge({ registry }: LimitsEdge, name: string): Promise<number> {
  return (await registry.getSingleMetric(name)!.get()).values[0]!.value;
}
