import { requireAdmin, type ServiceContext } from '../../context.js';
import { notifyNodes } from '../../db/invalidation.js';
import { GpuNode } from '../../entities/nodes/gpu-node.js';
import { AppError } from '../../errors.js';
import { formatTimestamp } from '../../lib/clock.js';
import { endpointKey } from '../../lib/endpoint-key.js';
import { formatMoney } from '../../lib/money.js';
import type { PageInput } from '../../lib/page-input.js';
import { requireActingAdmin } from '../accounts/acting.js';
import { changedFields, recordAction } from '../admin/admin-actions.store.js';
import type { ServiceDeps } from '../deps.js';
import { idOf, notFound } from '../not-found.js';
import { factsOf, heartbeatView, shownNodes } from './node-views.js';
import type { CreateNodeInput, UpdateNodeInput } from './nodes.inputs.js';
import type { HeartbeatOutput, NodeOutput, NodeSettingsOutput } from './nodes.outputs.js';
import { findNode, listHeartbeats, listNodes, lockNode } from './nodes.store.js';

/** Administration of GPU nodes. Every method throws AppError `unauthorized` and `forbidden`. */
export function createNodesService({
  config,
}: {
  config: Pick<ServiceDeps['config'], 'gpuStaleAfterMs' | 'gpuHeartbeatSecret'>;
}) {
  return {
    /** Settings of the node registry. */
    settings(context: ServiceContext): NodeSettingsOutput {
      requireAdmin(context);
      return {
        stale_after_seconds: config.gpuStaleAfterMs / 1000,
        accepts_heartbeats: config.gpuHeartbeatSecret !== undefined,
      };
    },

    /** Newest first. */
    async list(context: ServiceContext, page: PageInput): Promise<NodeOutput[]> {
      requireAdmin(context);
      const nodes = await listNodes(context.em, page);
      return shownNodes(context, nodes);
    },

    /** @throws AppError `not_found` */
    async get(context: ServiceContext, id: string): Promise<NodeOutput> {
      requireAdmin(context);
      const node = await findNode(context.em, idOf(id, 'GPU node'));
      if (!node) throw notFound('GPU node');
      return (await shownNodes(context, [node]))[0]!;
    },

    /** Metrics of the last day, newest first. @throws AppError `not_found` */
    async heartbeats(context: ServiceContext, named: string, page: PageInput): Promise<HeartbeatOutput[]> {
      requireAdmin(context);
      const id = idOf(named, 'GPU node');
      if (!(await findNode(context.em, id))) throw notFound('GPU node');
      return (await listHeartbeats(context.em, id, page)).map(heartbeatView);
    },

    async create(context: ServiceContext, input: CreateNodeInput): Promise<NodeOutput> {
      const viewer = requireAdmin(context);
      const now = new Date(context.clock.now());
      const node = await context.em.fork().transactional(async (em) => {
        await requireActingAdmin(em, viewer);
        const made = em.create(GpuNode, { ...columnsOf(input), createdAt: now, updatedAt: now } as GpuNode);
        await em.persist(made).flush();
        recordAction(em, context, { action: 'node.create', subjectId: made.id, after: { ...factsOf(made) } });
        await notifyNodes(em);
        return made;
      });
      return (await shownNodes(context, [node]))[0]!;
    },

    /** Changes the fields in the input. @throws AppError `not_found`, `changed_meanwhile` */
    async update(
      context: ServiceContext,
      named: string,
      { expected_updated_at: expected, ...input }: UpdateNodeInput,
    ): Promise<NodeOutput> {
      const viewer = requireAdmin(context);
      const id = idOf(named, 'GPU node');
      const node = await context.em.fork().transactional(async (em) => {
        const locked = await lockNode(em, id);
        await requireActingAdmin(em, viewer);
        if (!locked) throw notFound('GPU node');
        if (expected !== undefined && expected !== formatTimestamp(locked.updatedAt)) {
          throw new AppError('changed_meanwhile');
        }
        const facts = factsOf(locked);
        const { endpointKey: place } = locked;
        Object.assign(locked, columnsOf(input), input.status && { status: input.status });
        const changes = changedFields(facts, factsOf(locked));
        if (Object.keys(changes.after).length === 0) return locked;
        // Each change gets a distinct time, by which clients recognise it.
        locked.updatedAt = new Date(Math.max(context.clock.now(), locked.updatedAt.getTime() + 1));
        if (changes.after.status !== undefined || locked.endpointKey !== place) {
          locked.revision++;
          locked.drainedAt = null;
        }
        recordAction(em, context, { action: 'node.update', subjectId: id, ...changes });
        await notifyNodes(em);
        return locked;
      });
      return (await shownNodes(context, [node]))[0]!;
    },

    /** Deletes a node; its benchmarks stay. @throws AppError `not_found` */
    async remove(context: ServiceContext, named: string): Promise<void> {
      const viewer = requireAdmin(context);
      const id = idOf(named, 'GPU node');
      await context.em.fork().transactional(async (em) => {
        const node = await lockNode(em, id);
        await requireActingAdmin(em, viewer);
        if (!node) throw notFound('GPU node');
        em.remove(node);
        recordAction(em, context, { action: 'node.delete', subjectId: id, before: { ...factsOf(node) } });
        await notifyNodes(em);
      });
    },
  };
}

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
