import { requireAdmin, type ServiceContext } from '../../context.js';
import { notifyNodes } from '../../db/invalidation.js';
import type { GpuHeartbeat } from '../../entities/nodes/gpu-heartbeat.js';
import { GpuNode } from '../../entities/nodes/gpu-node.js';
import { AppError } from '../../errors.js';
import { formatTimestamp } from '../../lib/clock.js';
import { endpointKey } from '../../lib/endpoint-key.js';
import { isUuid } from '../../lib/ids.js';
import { formatDecimal, formatMoney } from '../../lib/money.js';
import type { PageInput } from '../../lib/page-input.js';
import { changedFields, recordAction } from '../admin/admin-actions.store.js';
import type { CreateNodeInput, UpdateNodeInput } from './nodes.inputs.js';
import type { HeartbeatOutput, NodeOutput } from './nodes.outputs.js';
import { secondsBetween, shownReadings } from './nodes.rules.js';
import { callsInFlight, findNode, listHeartbeats, listNodes, lockNode } from './nodes.store.js';

/** What administrators do with GPU nodes. Every method throws AppError `unauthorized` and `forbidden`. */
export function createNodesService() {
  return {
    /** Newest first. */
    async list(context: ServiceContext, page: PageInput): Promise<NodeOutput[]> {
      requireAdmin(context);
      const nodes = await listNodes(context.em, page);
      return shown(context, nodes);
    },

    /** @throws AppError `not_found` */
    async get(context: ServiceContext, id: string): Promise<NodeOutput> {
      requireAdmin(context);
      const node = isUuid(id) ? await findNode(context.em, id) : null;
      if (!node) throw new AppError('not_found');
      return (await shown(context, [node]))[0]!;
    },

    /** Metrics of the last day, newest first. @throws AppError `not_found` */
    async heartbeats(context: ServiceContext, id: string, page: PageInput): Promise<HeartbeatOutput[]> {
      requireAdmin(context);
      if (!isUuid(id) || !(await findNode(context.em, id))) throw new AppError('not_found');
      return (await listHeartbeats(context.em, id, page)).map(heartbeatView);
    },

    async create(context: ServiceContext, input: CreateNodeInput): Promise<NodeOutput> {
      requireAdmin(context);
      const now = new Date(context.clock.now());
      const node = await context.em.fork().transactional(async (em) => {
        const made = em.create(GpuNode, { ...columnsOf(input), createdAt: now, updatedAt: now } as GpuNode);
        await em.persist(made).flush();
        recordAction(em, context, { action: 'node.create', subjectId: made.id, after: { ...factsOf(made) } });
        await notifyNodes(em);
        return made;
      });
      return (await shown(context, [node]))[0]!;
    },

    /** Changes what the input names. @throws AppError `not_found` */
    async update(context: ServiceContext, id: string, input: UpdateNodeInput): Promise<NodeOutput> {
      requireAdmin(context);
      if (!isUuid(id)) throw new AppError('not_found');
      const node = await context.em.fork().transactional(async (em) => {
        const locked = await lockNode(em, id);
        if (!locked) throw new AppError('not_found');
        const facts = factsOf(locked);
        const { endpointKey: place } = locked;
        Object.assign(locked, columnsOf(input), input.status && { status: input.status });
        const changes = changedFields(facts, factsOf(locked));
        if (Object.keys(changes.after).length === 0) return locked;
        locked.updatedAt = new Date(context.clock.now());
        if (changes.after.status !== undefined || locked.endpointKey !== place) {
          locked.revision++;
          locked.drainedAt = null;
        }
        recordAction(em, context, { action: 'node.update', subjectId: id, ...changes });
        await notifyNodes(em);
        return locked;
      });
      return (await shown(context, [node]))[0]!;
    },

    /** Its benchmarks stay. @throws AppError `not_found` */
    async remove(context: ServiceContext, id: string): Promise<void> {
      requireAdmin(context);
      if (!isUuid(id)) throw new AppError('not_found');
      await context.em.fork().transactional(async (em) => {
        const node = await lockNode(em, id);
        if (!node) throw new AppError('not_found');
        em.remove(node);
        recordAction(em, context, { action: 'node.delete', subjectId: id, before: { ...factsOf(node) } });
        await notifyNodes(em);
      });
    },
  };
}

/** What an administrator sets, as the audit log has it. */
const factsOf = (node: GpuNode) => ({
  name: node.name,
  provider: node.provider,
  region: node.region,
  gpu_type: node.gpuType,
  hourly_cost_usd: formatDecimal(node.hourlyCostUsd),
  endpoint_url: node.endpointUrl,
  status: node.status ?? 'active',
});

function columnsOf({
  name,
  provider,
  region,
  gpu_type: gpuType,
  hourly_cost_usd: cost,
  endpoint_url: endpointUrl,
}: Partial<CreateNodeInput>): Partial<GpuNode> {
  return Object.fromEntries(
    Object.entries({
      name,
      provider,
      region,
      gpuType,
      hourlyCostUsd: cost === undefined ? undefined : formatMoney(cost),
      endpointUrl,
      endpointKey: endpointUrl === undefined ? undefined : endpointKey(endpointUrl),
    }).filter(([, value]) => value !== undefined),
  );
}

/** Nodes as administrators see them, the same in lists and alone. */
async function shown({ em, clock }: ServiceContext, nodes: readonly GpuNode[]): Promise<NodeOutput[]> {
  if (nodes.length === 0) return [];
  const inFlight = await callsInFlight(em);
  const now = clock.now();
  return nodes.map((node) => ({
    id: node.id,
    ...factsOf(node),
    health_status: node.healthStatus ?? 'unhealthy',
    kept_in_routing: node.keptInRouting ?? false,
    last_heartbeat_at: node.lastHeartbeatAt ? formatTimestamp(node.lastHeartbeatAt) : null,
    heartbeat_age_seconds: node.lastHeartbeatAt ? secondsBetween(node.lastHeartbeatAt.getTime(), now) : null,
    in_flight: inFlight.get(node.id) ?? null,
    drained_at: node.drainedAt ? formatTimestamp(node.drainedAt) : null,
    readings: shownReadings(node.readings ?? {}, now),
    created_at: formatTimestamp(node.createdAt),
    updated_at: formatTimestamp(node.updatedAt),
  }));
}

const heartbeatView = (heartbeat: GpuHeartbeat): HeartbeatOutput => ({
  received_at: formatTimestamp(heartbeat.receivedAt),
  gpu_utilization: heartbeat.gpuUtilization ?? null,
  memory_used_gb: heartbeat.memoryUsedGb ?? null,
  requests_running: heartbeat.requestsRunning ?? null,
  requests_waiting: heartbeat.requestsWaiting ?? null,
  kv_cache_usage: heartbeat.kvCacheUsage ?? null,
  loaded_models: heartbeat.loadedModels ?? null,
});
