import { economicsInput } from '../services/nodes/economics.inputs.js';
import { nodesEconomicsOutput } from '../services/nodes/economics.outputs.js';
import {
  compareBenchmarksInput,
  createBenchmarkInput,
  createNodeInput,
  heartbeatInput,
  heartbeatsInput,
  listBenchmarksInput,
  nodeParams,
  updateNodeInput,
} from '../services/nodes/nodes.inputs.js';
import {
  benchmarkComparisonOutput,
  benchmarkOutput,
  benchmarksOutput,
  heartbeatsOutput,
  latestBenchmarksOutput,
  nodeOutput,
  nodesOutput,
  pulseOutput,
} from '../services/nodes/nodes.outputs.js';
import { restRoutes } from './operations.js';
import { reads, writes } from './route-rules.js';

const NODES = '/api/admin/gpu-nodes';
/** Room for 200 model names of maximum length. */
const HEARTBEAT_BYTES = 256 * 1024;
const fromNodes = writes({ auth: 'internal', bodyLimitBytes: HEARTBEAT_BYTES });

/** GPU nodes: their administration, and the heartbeats and benchmarks that they send. */
export const nodesRoutes = restRoutes('Nodes', (route, { nodes, economics, benchmarks, heartbeats }) => {
  route(`GET ${NODES}`, reads({ auth: 'admin' }), {
    operationId: 'listGpuNodes',
    summary: 'List nodes',
    description: 'Lists GPU nodes, newest first. Requires an administrator.',
    query: heartbeatsInput,
    returns: { 200: nodesOutput },
    run: ({ context, query }) => nodes.list(context, query),
  });

  route(`GET ${NODES}/:id`, reads({ auth: 'admin' }), {
    operationId: 'getGpuNode',
    summary: 'Get a node',
    description: 'Returns a GPU node. Requires an administrator.',
    params: nodeParams,
    returns: { 200: nodeOutput },
    run: ({ context, params }) => nodes.get(context, params.id),
  });

  route(`GET ${NODES}/:id/heartbeats`, reads({ auth: 'admin' }), {
    operationId: 'listGpuNodeHeartbeats',
    summary: 'List heartbeats of a node',
    description:
      'Lists the metrics that heartbeats carried in the last 24 hours, newest first. Requires an administrator.',
    params: nodeParams,
    query: heartbeatsInput,
    returns: { 200: heartbeatsOutput },
    run: ({ context, params, query }) => nodes.heartbeats(context, params.id, query),
  });

  route(`POST ${NODES}`, writes({ auth: 'admin' }), {
    operationId: 'createGpuNode',
    summary: 'Register a node',
    description:
      'Registers a GPU node. It is active, and unhealthy until its first heartbeat. Requires an administrator.',
    body: createNodeInput,
    returns: { 201: nodeOutput },
    run: ({ context, body }) => nodes.create(context, body),
  });

  route(`PATCH ${NODES}/:id`, writes({ auth: 'admin' }), {
    operationId: 'updateGpuNode',
    summary: 'Update a node',
    description:
      'Updates the given fields; send at least one. A draining or offline node gets no new calls, within a second, and calls in flight finish. Requires an administrator.',
    params: nodeParams,
    body: updateNodeInput,
    returns: { 200: nodeOutput },
    errors: [409],
    run: ({ context, params, body }) => nodes.update(context, params.id, body),
  });

  route(`DELETE ${NODES}/:id`, writes({ auth: 'admin' }), {
    operationId: 'deleteGpuNode',
    summary: 'Delete a node',
    description:
      'Deletes a GPU node and its heartbeats. Its benchmarks stay. Routing then ignores it. Requires an administrator.',
    params: nodeParams,
    returns: { 204: 'The node is deleted.' },
    run: ({ context, params }) => nodes.remove(context, params.id),
  });

  route('GET /api/admin/node-economics', reads({ auth: 'admin' }), {
    operationId: 'listNodeEconomics',
    summary: 'List earnings of nodes',
    description:
      'Lists revenue and cost of nodes in a window, with their latency in use next to their benchmarks, highest margin per hour first. Requires an administrator.',
    query: economicsInput,
    returns: { 200: nodesEconomicsOutput },
    run: ({ context, query }) => economics.list(context, query),
  });

  route('GET /api/admin/benchmarks', reads({ auth: 'admin' }), {
    operationId: 'listBenchmarks',
    summary: 'List benchmarks',
    description: 'Lists benchmark runs, newest first. Requires an administrator.',
    query: listBenchmarksInput,
    returns: { 200: benchmarksOutput },
    run: ({ context, query }) => benchmarks.list(context, query),
  });

  route('GET /api/admin/benchmarks/latest', reads({ auth: 'admin' }), {
    operationId: 'listLatestBenchmarks',
    summary: 'List latest benchmarks',
    description: 'Returns the latest run of each node and model. Requires an administrator.',
    returns: { 200: latestBenchmarksOutput },
    run: ({ context }) => benchmarks.latest(context),
  });

  route('GET /api/admin/benchmarks/compare', reads({ auth: 'admin' }), {
    operationId: 'compareBenchmarks',
    summary: 'Compare two benchmarks',
    description:
      'Compares two benchmark runs, measure by measure. A difference is `inconclusive` unless the intervals are apart. Requires an administrator.',
    query: compareBenchmarksInput,
    returns: { 200: benchmarkComparisonOutput },
    errors: [404],
    run: ({ context, query }) => benchmarks.compare(context, query),
  });

  route('POST /api/internal/gpu-nodes/:id/heartbeat', fromNodes, {
    operationId: 'sendHeartbeat',
    summary: 'Send a heartbeat',
    description:
      'Reports that a node is alive. The body is optional. Requires the internal secret; returns 503 if none is configured.',
    params: nodeParams,
    body: heartbeatInput,
    returns: { 200: pulseOutput },
    run: ({ context, params, body }) => heartbeats.receive(context, params.id, body ?? {}),
  });

  route('POST /api/internal/benchmarks', fromNodes, {
    operationId: 'submitBenchmark',
    summary: 'Submit a benchmark',
    description:
      'Stores the result of a benchmark run. Requires the internal secret; returns 503 if none is configured.',
    body: createBenchmarkInput,
    returns: { 201: benchmarkOutput },
    errors: [404],
    run: ({ context, body }) => benchmarks.submit(context, body),
  });
});
