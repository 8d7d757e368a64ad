import type { ServiceContext } from '../../context.js';
import { insertIfAbsent } from '../../db/insert-if-absent.js';
import { notifyNodeNews, notifyNodes } from '../../db/invalidation.js';
import { GpuHeartbeat } from '../../entities/nodes/gpu-heartbeat.js';
import { DAY_MS, formatTimestamp } from '../../lib/clock.js';
import { idOf, notFound } from '../not-found.js';
import type { HeartbeatInput } from './nodes.inputs.js';
import type { PulseOutput } from './nodes.outputs.js';
import { judgeSweep, mergedReadings, secondsBetween } from './nodes.rules.js';
import {
  countNodes,
  deleteHeartbeatsBefore,
  lastSweep,
  lockKnownNodes,
  lockNode,
  type NodeCounts,
  noteSweep,
} from './nodes.store.js';

/** A sweep is late this many intervals after the previous one. */
const LATE_INTERVALS = 2;

/** Result of a sweep. */
interface SweepResult {
  healthy: number;
  unhealthy: number;
  /** How many of the unhealthy nodes the routing keeps. */
  kept: number;
  /** Whether the previous sweep was much longer ago than intended. */
  late: boolean;
}

/** Receives heartbeats of nodes and detects missing ones. Called with the internal secret, or by the schedule. */
export function createHeartbeatsService() {
  return {
    /** Records a heartbeat with the server's time. @throws AppError `not_found` */
    async receive(context: ServiceContext, named: string, input: HeartbeatInput): Promise<PulseOutput> {
      const id = idOf(named, 'GPU node');
      const now = context.clock.now();
      return context.em.fork().transactional(async (em) => {
        const node = await lockNode(em, id);
        if (!node) throw notFound('GPU node');
        const changesRouting = node.healthStatus !== 'healthy' || node.keptInRouting;
        const at = new Date(Math.max(now, node.lastHeartbeatAt?.getTime() ?? 0));
        node.healthStatus = 'healthy';
        node.keptInRouting = false;
        node.lastHeartbeatAt = at;
        node.readings = mergedReadings(node.readings, input, now);
        if (Object.values(input).some((value) => value !== null && value !== undefined)) {
          await insertIfAbsent(em, GpuHeartbeat, {
            nodeId: id,
            receivedAt: at,
            gpuUtilization: input.gpu_utilization ?? null,
            memoryUsedGb: input.memory_used_gb ?? null,
            requestsRunning: input.requests_running ?? null,
            requestsWaiting: input.requests_waiting ?? null,
            kvCacheUsage: input.kv_cache_usage ?? null,
            loadedModels: input.loaded_models ?? null,
          });
        }
        await (changesRouting ? notifyNodes(em) : notifyNodeNews(em));
        return {
          node_id: id,
          status: node.status,
          health_status: node.healthStatus,
          last_heartbeat_at: formatTimestamp(at),
        };
      });
    },

    /**
     * Marks nodes unhealthy that have been silent for longer than `staleAfterMs`. When half of them or more go silent
     * together, the routing keeps them: the fault is more likely ours.
     */
    async sweep(
      context: ServiceContext,
      { staleAfterMs, intervalMs }: { staleAfterMs: number; intervalMs: number },
    ): Promise<SweepResult> {
      const now = context.clock.now();
      return context.em.fork().transactional(async (em) => {
        const before = await noteSweep(em, new Date(now));
        const nodes = await lockKnownNodes(em);
        const { stale, kept, released } = judgeSweep(nodes, now - staleAfterMs, intervalMs);
        const byId = new Map(nodes.map((node) => [node.id, node]));
        for (const id of stale) byId.get(id)!.healthStatus = 'unhealthy';
        for (const id of kept) byId.get(id)!.keptInRouting = true;
        for (const id of released) byId.get(id)!.keptInRouting = false;
        if (stale.length + released.length > 0) await notifyNodes(em);
        await deleteHeartbeatsBefore(em, new Date(now - DAY_MS));
        const late = before !== undefined && now - before.getTime() > LATE_INTERVALS * intervalMs;
        report(context, { stale, kept, late });
        const healthy = nodes.filter(({ healthStatus }) => healthStatus === 'healthy').length;
        return {
          healthy,
          unhealthy: nodes.length - healthy,
          kept: nodes.filter(({ keptInRouting }) => keptInRouting).length,
          late,
        };
      });
    },

    /** The number of nodes in each state. */
    counts: ({ em }: ServiceContext): Promise<NodeCounts> => countNodes(em),

    /** Seconds since the last sweep; undefined before the first. */
    async sweepAgeSeconds({ em, clock }: ServiceContext): Promise<number | undefined> {
      const at = await lastSweep(em);
      return at && secondsBetween(at.getTime(), clock.now());
    },
  };
}

function report(
  { log }: ServiceContext,
  { stale, kept, late }: { stale: readonly string[]; kept: readonly string[]; late: boolean },
): void {
  if (late) log.warn('the check for silent nodes ran late');
  if (kept.length > 0) {
    log.error({ nodes: kept }, 'half of the nodes or more went silent at once: routing keeps them');
  } else if (stale.length > 0)
    log.warn({ nodes: stale }, 'nodes became unhealthy: their heartbeats are missing');
}
