import { z } from 'zod';
import { uuid } from '../../lib/output-fields.js';
import { idOrText } from '../../lib/uuid.js';
import { economicsInput } from '../../services/nodes/economics.inputs.js';
import {
  compareBenchmarksInput,
  createNodeInput,
  heartbeatsInput,
  listBenchmarksInput,
  updateNodeInput,
} from '../../services/nodes/nodes.inputs.js';
import { nodeOutput } from '../../services/nodes/nodes.outputs.js';
import { camelCased, toGraphql, toGraphqlAs } from '../case.js';
import { listCost } from '../connections.js';
import { mutation, query, subscription } from '../fields.js';
import { checked } from '../input.js';
import { Decimal } from '../scalars.js';
import {
  Benchmark,
  BenchmarkComparison,
  GpuNode,
  GpuNodeSettings,
  GpuNodesChange,
  NodeEconomics,
  NodeHeartbeat,
  NodeStatus,
} from './nodes.types.js';

const nodeId = z.object({ id: uuid('Node ID.') });
const nodePayload = z.object({ node: nodeOutput.describe('The node as it is now.') });

const nodes = [
  query('gpuNodes', 'admin', [GpuNode], {
    description: 'GPU nodes, newest first. Requires an administrator.',
    complexity: listCost,
    args: heartbeatsInput,
    run: ({ services, service }, args) =>
      toGraphql(services.nodes.list(service, checked(heartbeatsInput, args))),
  }),
  query('gpuNode', 'admin', GpuNode, {
    nullable: true,
    description: 'A GPU node. Requires an administrator.',
    args: nodeId,
    run: ({ services, service }, { id }) => toGraphql(services.nodes.get(service, id)),
  }),
  query('gpuNodeSettings', 'admin', GpuNodeSettings, {
    description: 'Settings of the node registry. Requires an administrator.',
    run: ({ services, service }) => camelCased(services.nodes.settings(service)),
  }),
  query('gpuNodeHeartbeats', 'admin', [NodeHeartbeat], {
    nullable: true,
    description:
      'Metrics that heartbeats of a node carried in the last 24 hours, newest first. Requires an administrator.',
    complexity: listCost,
    args: nodeId.extend(heartbeatsInput.shape),
    run: ({ services, service }, { id, ...args }) =>
      toGraphql(services.nodes.heartbeats(service, id, checked(heartbeatsInput, args))),
  }),
  mutation('createGpuNode', 'admin', {
    description:
      'Registers a GPU node. It is active, and unhealthy until its first heartbeat. Requires an administrator.',
    input: createNodeInput,
    inputTypes: { hourlyCostUsd: Decimal },
    argument: 'The node.',
    payload: nodePayload.describe('The registered node.'),
    run: ({ services, service }, input) =>
      toGraphqlAs('node', services.nodes.create(service, checked(createNodeInput, input))),
  }),
  mutation('updateGpuNode', 'admin', {
    description:
      'Changes a GPU node. A draining or offline node gets no new calls. Requires an administrator.',
    input: nodeId.extend(updateNodeInput.shape).describe('A node and its changes.'),
    inputTypes: { hourlyCostUsd: Decimal, status: NodeStatus },
    argument: 'Node and changes.',
    payload: nodePayload.describe('The updated node.'),
    run: ({ services, service }, { id, ...change }) =>
      toGraphqlAs('node', services.nodes.update(service, id, checked(updateNodeInput, change))),
  }),
  mutation('deleteGpuNode', 'admin', {
    description: 'Deletes a GPU node and its heartbeats. Its benchmarks stay. Requires an administrator.',
    input: nodeId.describe('The node to delete.'),
    argument: 'The node.',
    payload: z
      .object({ deleted_gpu_node_id: uuid('ID of the deleted node.') })
      .describe('The result of deleting a node.'),
    run: async ({ services, service }, { id }) => {
      await services.nodes.remove(service, id);
      return { deletedGpuNodeId: idOrText(id) };
    },
  }),
  subscription('gpuNodesChanged', 'admin', GpuNodesChange, {
    description:
      'Sends all GPU nodes, then each node that is registered, changed or deleted, sends a heartbeat or has another number of calls in flight. Changes in quick succession arrive as one event. Requires an administrator.',
    args: z.object({ node_id: uuid('Only this node.').optional() }),
    subscribe: ({ services, service }, { nodeId }) =>
      services.nodeFeed.nodesChanged(service, nodeId ?? undefined),
  }),
];

const benchmarks = [
  query('benchmarks', 'admin', [Benchmark], {
    description: 'Benchmark runs, newest first. Requires an administrator.',
    complexity: listCost,
    args: listBenchmarksInput,
    run: ({ services, service }, args) =>
      toGraphql(services.benchmarks.list(service, checked(listBenchmarksInput, args))),
  }),
  query('latestBenchmarks', 'admin', [Benchmark], {
    description: 'The latest run of each node and model. Requires an administrator.',
    complexity: listCost,
    run: ({ services, service }) => toGraphql(services.benchmarks.latest(service)),
  }),
  query('benchmarkComparison', 'admin', BenchmarkComparison, {
    nullable: true,
    description: 'Two benchmark runs, measure by measure. Requires an administrator.',
    args: compareBenchmarksInput,
    run: ({ services, service }, args) =>
      toGraphql(services.benchmarks.compare(service, checked(compareBenchmarksInput, args))),
  }),
  query('nodeEconomics', 'admin', [NodeEconomics], {
    description:
      'Revenue and cost of nodes in a window, highest margin per hour first. Requires an administrator.',
    complexity: listCost,
    args: economicsInput,
    run: ({ services, service }, args) =>
      toGraphql(services.economics.list(service, checked(economicsInput, args))),
  }),
];

/** GPU nodes and their benchmarks, for administrators. */
export const nodesResolvers = [...nodes, ...benchmarks];
