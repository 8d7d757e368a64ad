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
import type { Services } from '../services.js';
import { errorResponses, nothing } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import { reads, writes } from './route-rules.js';

const tags = ['Nodes'];
const NODES = '/api/admin/gpu-nodes';
const internal = { tags, security: [{ internal: [] }] };
/** As long as 200 names of models may be. */
const HEARTBEAT_BYTES = 256 * 1024;

/** GPU nodes: what administrators do with them, and what they say of themselves. */
export function nodesRoutes(app: RestApp, services: Services): void {
  readRoutes(app, services);
  writeRoutes(app, services);
  economicsRoute(app, services);
  benchmarkRoutes(app, services);
  internalRoutes(app, services);
}

function readRoutes(app: RestApp, { nodes }: Services): void {
  app.route({
    method: 'GET',
    url: NODES,
    config: reads({ auth: 'admin' }),
    schema: {
      operationId: 'listGpuNodes',
      tags,
      summary: 'List nodes',
      description: 'Lists GPU nodes, newest first. Requires an administrator.',
      querystring: heartbeatsInput,
      response: { 200: nodesOutput, ...errorResponses(401, 403, 422) },
    },
    handler: async (request) => nodes.list(request.context, request.query),
  });

  app.route({
    method: 'GET',
    url: `${NODES}/:id`,
    config: reads({ auth: 'admin' }),
    schema: {
      operationId: 'getGpuNode',
      tags,
      summary: 'Get a node',
      description: 'Returns a GPU node. Requires an administrator.',
      params: nodeParams,
      response: { 200: nodeOutput, ...errorResponses(401, 403, 404) },
    },
    handler: async (request) => nodes.get(request.context, request.params.id),
  });

  app.route({
    method: 'GET',
    url: `${NODES}/:id/heartbeats`,
    config: reads({ auth: 'admin' }),
    schema: {
      operationId: 'listGpuNodeHeartbeats',
      tags,
      summary: 'List heartbeats of a node',
      description:
        'Lists the metrics that heartbeats carried in the last 24 hours, newest first. Requires an administrator.',
      params: nodeParams,
      querystring: heartbeatsInput,
      response: { 200: heartbeatsOutput, ...errorResponses(401, 403, 404, 422) },
    },
    handler: async (request) => nodes.heartbeats(request.context, request.params.id, request.query),
  });
}

function writeRoutes(app: RestApp, { nodes }: Services): void {
  app.route({
    method: 'POST',
    url: NODES,
    config: writes({ auth: 'admin' }),
    schema: {
      operationId: 'createGpuNode',
      tags,
      summary: 'Register a node',
      description:
        'Registers a GPU node. It is active, and unhealthy until its first heartbeat. Requires an administrator.',
      body: createNodeInput,
      response: { 201: nodeOutput, ...errorResponses(401, 403, 415, 422) },
    },
    handler: async (request, reply) => {
      reply.status(201);
      return nodes.create(request.context, request.body);
    },
  });

  app.route({
    method: 'PATCH',
    url: `${NODES}/:id`,
    config: writes({ auth: 'admin' }),
    schema: {
      operationId: 'updateGpuNode',
      tags,
      summary: 'Update a node',
      description:
        'Updates the given fields; send at least one. A draining or offline node gets no new calls, within a second, and calls in flight finish. Requires an administrator.',
      params: nodeParams,
      body: updateNodeInput,
      response: { 200: nodeOutput, ...errorResponses(401, 403, 404, 409, 415, 422) },
    },
    handler: async (request) => nodes.update(request.context, request.params.id, request.body),
  });

  app.route({
    method: 'DELETE',
    url: `${NODES}/:id`,
    config: writes({ auth: 'admin' }),
    schema: {
      operationId: 'deleteGpuNode',
      tags,
      summary: 'Delete a node',
      description:
        'Deletes a GPU node and its heartbeats. Its benchmarks stay. Routing no longer goes by it. Requires an administrator.',
      params: nodeParams,
      response: { 204: nothing('The node is deleted.'), ...errorResponses(401, 403, 404, 415) },
    },
    handler: async (request, reply) => {
      await nodes.remove(request.context, request.params.id);
      return reply.status(204).send();
    },
  });
}

function economicsRoute(app: RestApp, { economics }: Services): void {
  app.route({
    method: 'GET',
    url: '/api/admin/node-economics',
    config: reads({ auth: 'admin' }),
    schema: {
      operationId: 'listNodeEconomics',
      tags,
      summary: 'List earnings of nodes',
      description:
        'Lists what nodes earned and cost in a window, with their latency in use beside their benchmarks, the largest margin of one hour first. Requires an administrator.',
      querystring: economicsInput,
      response: { 200: nodesEconomicsOutput, ...errorResponses(401, 403, 422) },
    },
    handler: async (request) => economics.list(request.context, request.query),
  });
}

function benchmarkRoutes(app: RestApp, { benchmarks }: Services): void {
  app.route({
    method: 'GET',
    url: '/api/admin/benchmarks',
    config: reads({ auth: 'admin' }),
    schema: {
      operationId: 'listBenchmarks',
      tags,
      summary: 'List benchmarks',
      description: 'Lists benchmark runs, newest first. Requires an administrator.',
      querystring: listBenchmarksInput,
      response: { 200: benchmarksOutput, ...errorResponses(401, 403, 422) },
    },
    handler: async (request) => benchmarks.list(request.context, request.query),
  });

  app.route({
    method: 'GET',
    url: '/api/admin/benchmarks/latest',
    config: reads({ auth: 'admin' }),
    schema: {
      operationId: 'listLatestBenchmarks',
      tags,
      summary: 'List latest benchmarks',
      description: 'Returns the latest run of each node and model. Requires an administrator.',
      response: { 200: latestBenchmarksOutput, ...errorResponses(401, 403) },
    },
    handler: async (request) => benchmarks.latest(request.context),
  });

  app.route({
    method: 'GET',
    url: '/api/admin/benchmarks/compare',
    config: reads({ auth: 'admin' }),
    schema: {
      operationId: 'compareBenchmarks',
      tags,
      summary: 'Compare two benchmarks',
      description:
        'Compares two benchmark runs, measure by measure. A difference is `inconclusive` unless the intervals are apart. Requires an administrator.',
      querystring: compareBenchmarksInput,
      response: { 200: benchmarkComparisonOutput, ...errorResponses(401, 403, 404, 422) },
    },
    handler: async (request) => benchmarks.compare(request.context, request.query),
  });
}

function internalRoutes(app: RestApp, { heartbeats, benchmarks }: Services): void {
  app.route({
    method: 'POST',
    url: '/api/internal/gpu-nodes/:id/heartbeat',
    config: writes({ auth: 'internal', bodyLimitBytes: HEARTBEAT_BYTES }),
    schema: {
      ...internal,
      operationId: 'sendHeartbeat',
      summary: 'Send a heartbeat',
      description:
        'Says that a node lives. The body is optional. Takes the internal secret; 503 if the installation has none.',
      params: nodeParams,
      body: heartbeatInput,
      response: { 200: pulseOutput, ...errorResponses(401, 404, 415, 422) },
    },
    handler: async (request) => heartbeats.receive(request.context, request.params.id, request.body ?? {}),
  });

  app.route({
    method: 'POST',
    url: '/api/internal/benchmarks',
    config: writes({ auth: 'internal', bodyLimitBytes: HEARTBEAT_BYTES }),
    schema: {
      ...internal,
      operationId: 'submitBenchmark',
      summary: 'Submit a benchmark',
      description:
        'Stores the result of a benchmark run. Takes the internal secret; 503 if the installation has none.',
      body: createBenchmarkInput,
      response: { 201: benchmarkOutput, ...errorResponses(401, 404, 415, 422) },
    },
    handler: async (request, reply) => {
      reply.status(201);
      return benchmarks.submit(request.context, request.body);
    },
  });
}
