import type { EntityManager } from '@mikro-orm/postgresql';
import { requireAdmin, type ServiceContext } from '../../context.js';
import type { GpuBenchmark } from '../../entities/nodes/gpu-benchmark.js';
import type { GpuNode } from '../../entities/nodes/gpu-node.js';
import { DAY_MS, formatTimestamp, HOUR_MS, hourStart } from '../../lib/clock.js';
import { countOf } from '../../lib/latency-sketch.js';
import { formatMoney, type Money, parseMoney } from '../../lib/money.js';
import { uuidOf } from '../../lib/uuid.js';
import { readDirtyHours } from '../analytics/dirty-hours.store.js';
import type { ServiceDeps } from '../deps.js';
import { createFiguresCache } from '../leaderboard/figures-cache.js';
import { latestBenchmarks } from './benchmarks.store.js';
import type { EconomicsInput } from './economics.inputs.js';
import type { NodeEconomicsOutput } from './economics.outputs.js';
import { averageCalls, bandOf, breakEvenOf, callRange, marginOf, p95Of } from './economics.rules.js';
import {
  type ServedLatency,
  type ServedOnNodes,
  type ServedPart,
  servedInClosedHours,
  servedInDirtyHours,
} from './node-hours.store.js';
import { findNodes } from './nodes.store.js';

/** All data about one node. */
interface ServedByNode {
  parts: readonly ServedPart[];
  latencies: readonly ServedLatency[];
  benchmarks: readonly GpuBenchmark[];
}

/** Revenue and cost of nodes. */
export function createEconomicsService(deps: Pick<ServiceDeps, 'clock' | 'signals'>) {
  const { cached } = createFiguresCache(deps);
  /** All nodes over a month have a million sketched latencies. Those of closed hours are read once for everybody. */
  const servedFrom = async (
    em: EntityManager,
    from: Date,
    nodeId: string | undefined,
  ): Promise<ServedOnNodes> => {
    const scope = { from, nodeId, dirty: await readDirtyHours(em, { from }) };
    const question = `${from.getTime()} ${scope.dirty.map((hour) => hour.getTime())}`;
    const closed =
      nodeId === undefined
        ? await cached(question, () => servedInClosedHours(em.fork(), scope))
        : await servedInClosedHours(em, scope);
    const open = await servedInDirtyHours(em, scope);
    return {
      parts: [...closed.parts, ...open.parts],
      latencies: [...closed.latencies, ...open.latencies],
    };
  };

  return {
    /** Every node, or the one in the input. @throws AppError `unauthorized`, `forbidden` */
    async list(
      context: ServiceContext,
      { window_days: days, node_id: asked }: EconomicsInput,
    ): Promise<NodeEconomicsOutput[]> {
      requireAdmin(context);
      const nodeId = asked == null ? undefined : uuidOf(asked);
      if (asked != null && nodeId === undefined) return [];
      const { em, clock } = context;
      const now = clock.now();
      const from = new Date(hourStart(now - days * DAY_MS));
      const nodes = await findNodes(em, nodeId === undefined ? undefined : [nodeId]);
      if (nodes.length === 0) return [];
      const served = await servedFrom(em, from, nodeId);
      const parts = Map.groupBy(served.parts, ({ node_id }) => node_id);
      const latencies = Map.groupBy(served.latencies, ({ node_id }) => node_id);
      const benchmarks = Map.groupBy(await latestBenchmarks(em), (run) => run.nodeId);
      return nodes
        .map((node) =>
          economicsOf(
            node,
            { from: from.getTime(), now },
            {
              parts: parts.get(node.id) ?? [],
              latencies: latencies.get(node.id) ?? [],
              benchmarks: benchmarks.get(node.id) ?? [],
            },
          ),
        )
        .toSorted((a, b) => compare(b.perHour, a.perHour))
        .map(({ output }) => output);
    },
  };
}

const compare = (a: Money, b: Money): number => (a < b ? -1 : a > b ? 1 : 0);
const sum = (parts: readonly ServedPart[], name: 'requests' | 'errors' | 'busy_ms' | 'uncounted'): number =>
  parts.reduce((total, part) => total + part[name], 0);
const revenueOf = (parts: readonly ServedPart[]): Money =>
  parts.reduce((total, { cost }) => total + parseMoney(cost), 0n);

function economicsOf(
  node: GpuNode,
  { from, now }: { from: number; now: number },
  served: ServedByNode,
): { perHour: Money; output: NodeEconomicsOutput } {
  const { parts } = served;
  const since = Math.max(from, node.createdAt.getTime());
  const earnings = {
    hourlyCost: parseMoney(node.hourlyCostUsd),
    revenue: revenueOf(parts),
    ms: Math.max(0, now - since),
    busyMs: sum(parts, 'busy_ms'),
  };
  const { cost, margin, revenuePerHour, marginPerHour } = marginOf(earnings);
  const output = {
    node_id: node.id,
    name: node.name,
    since: formatTimestamp(since),
    hours: Math.round((earnings.ms / HOUR_MS) * 1000) / 1000,
    requests: sum(parts, 'requests'),
    errors: sum(parts, 'errors'),
    hourly_cost_usd: formatMoney(earnings.hourlyCost),
    revenue_usd: formatMoney(earnings.revenue),
    cost_usd: formatMoney(cost),
    margin_usd: formatMoney(margin),
    revenue_per_hour_usd: formatMoney(revenuePerHour),
    margin_per_hour_usd: formatMoney(marginPerHour),
    average_concurrency: averageCalls(earnings),
    break_even_concurrency: breakEvenOf(earnings),
    models: modelsOf(served),
  };
  return { perHour: marginPerHour, output };
}

/** Every model that the node served or was benchmarked with. */
function modelsOf({ parts, latencies, benchmarks }: ServedByNode): NodeEconomicsOutput['models'] {
  const names = new Set([...parts.map(({ model }) => model), ...benchmarks.map(({ model }) => model)]);
  return [...names]
    .map((name) => {
      const own = parts.filter(({ model }) => model === name);
      const sketch = latencies.filter(({ model }) => model === name);
      const benchmark = benchmarks.find(({ model }) => model === name);
      return {
        model_public_name: name,
        deployments: [...new Set(own.map(({ deployment }) => deployment))].sort(),
        requests: sum(own, 'requests'),
        errors: sum(own, 'errors'),
        uncounted: sum(own, 'uncounted'),
        revenue: revenueOf(own),
        p95_latency_ms: p95Of(sketch),
        benchmark: benchmark ? besideUsage(benchmark, sketch) : null,
      };
    })
    .toSorted((a, b) => compare(b.revenue, a.revenue))
    .map(({ revenue, ...model }) => ({ ...model, revenue_usd: formatMoney(revenue) }));
}

function besideUsage(run: GpuBenchmark, latencies: readonly ServedLatency[]) {
  const band = bandOf(run.concurrency);
  const equal = latencies.filter((point) => point.band === band);
  const { from, to } = callRange(band);
  return {
    id: run.id,
    concurrency: run.concurrency,
    p95_latency_ms: run.p95LatencyMs,
    created_at: formatTimestamp(run.createdAt),
    usage: {
      concurrency_from: from,
      concurrency_to: to,
      requests: countOf(equal),
      p95_latency_ms: p95Of(equal),
    },
  };
}
