import type { ServiceContext } from '../../context.js';
import type { GpuHeartbeat } from '../../entities/nodes/gpu-heartbeat.js';
import type { GpuNode } from '../../entities/nodes/gpu-node.js';
import { formatTimestamp } from '../../lib/clock.js';
import { formatDecimal } from '../../lib/money.js';
import type { HeartbeatOutput, NodeOutput } from './nodes.outputs.js';
import { secondsBetween, shownReadings } from './nodes.rules.js';
import { nodeReports } from './nodes.store.js';

/** The settings of a node, as recorded in the audit log. */
export const factsOf = (node: GpuNode) => ({
  name: node.name,
  provider: node.provider,
  region: node.region,
  gpu_type: node.gpuType,
  hourly_cost_usd: formatDecimal(node.hourlyCostUsd),
  endpoint_url: node.endpointUrl,
  status: node.status ?? 'active',
});

/** Nodes as administrators see them, in lists and alone. */
export async function shownNodes(
  { em, clock }: Pick<ServiceContext, 'em' | 'clock'>,
  nodes: readonly GpuNode[],
): Promise<NodeOutput[]> {
  if (nodes.length === 0) return [];
  const reports = await nodeReports(em);
  const now = clock.now();
  return nodes.map((node) => ({
    id: node.id,
    ...factsOf(node),
    health_status: node.healthStatus ?? 'unhealthy',
    kept_in_routing: node.keptInRouting ?? false,
    last_heartbeat_at: node.lastHeartbeatAt ? formatTimestamp(node.lastHeartbeatAt) : null,
    heartbeat_age_seconds: node.lastHeartbeatAt ? secondsBetween(node.lastHeartbeatAt.getTime(), now) : null,
    in_flight: reports.get(node.id)?.calls ?? null,
    deployments: reports.get(node.id)?.deployments ?? null,
    drained_at: node.drainedAt ? formatTimestamp(node.drainedAt) : null,
    readings: shownReadings(node.readings ?? {}, now),
    created_at: formatTimestamp(node.createdAt),
    updated_at: formatTimestamp(node.updatedAt),
  }));
}

/** A heartbeat as administrators see it. */
export const heartbeatView = (heartbeat: GpuHeartbeat): HeartbeatOutput => ({
  received_at: formatTimestamp(heartbeat.receivedAt),
  gpu_utilization: heartbeat.gpuUtilization ?? null,
  memory_used_gb: heartbeat.memoryUsedGb ?? null,
  requests_running: heartbeat.requestsRunning ?? null,
  requests_waiting: heartbeat.requestsWaiting ?? null,
  kv_cache_usage: heartbeat.kvCacheUsage ?? null,
  loaded_models: heartbeat.loadedModels ?? null,
});
