import { z } from 'zod';
import { count, decimal, timestamp, uuid } from '../../lib/output-fields.js';
import { MEASURES } from './nodes.inputs.js';

const receivedAt = timestamp('When the server received it.');
const age = z.number().describe('Seconds since then.');

export const readingOutput = z
  .object({ value: z.number().describe('The value.'), received_at: receivedAt, age_seconds: age })
  .meta({ id: 'NodeReading', description: 'Latest value of a metric. Metrics never affect health.' });

export const loadedModelsOutput = z
  .object({
    value: z.array(z.string()).describe('Names of the loaded models as the node knows them.'),
    received_at: receivedAt,
    age_seconds: age,
  })
  .meta({ id: 'LoadedModels', description: 'Models that the node last reported as loaded.' });

export const readingsOutput = z
  .object({
    gpu_utilization: readingOutput.nullable().describe('GPU utilization in percent.'),
    memory_used_gb: readingOutput.nullable().describe('Used GPU memory in gigabytes.'),
    requests_running: readingOutput.nullable().describe('Number of requests in progress.'),
    requests_waiting: readingOutput.nullable().describe('Number of queued requests.'),
    kv_cache_usage: readingOutput.nullable().describe('Used share of the KV cache, 0 to 1.'),
    loaded_models: loadedModelsOutput.nullable().describe('Loaded models.'),
  })
  .meta({
    id: 'NodeReadings',
    description: 'Latest reported value of each metric. Null if it was never reported.',
  });

export const nodeOutput = z
  .object({
    id: uuid('Node ID.'),
    name: z.string().describe('Name of the node.'),
    provider: z.string().describe('Provider of the hardware.'),
    region: z.string().describe('Location of the node.'),
    gpu_type: z.string().describe('GPU type.'),
    hourly_cost_usd: decimal('Cost of one hour in US dollars.'),
    endpoint_url: z.string().describe('Address of the node. Only administrators see it.'),
    status: z
      .enum(['active', 'draining', 'offline'])
      .describe('Status as set by an administrator: `active`, `draining` or `offline`.'),
    health_status: z
      .enum(['healthy', 'unhealthy'])
      .describe('`healthy` while heartbeats arrive, otherwise `unhealthy`.'),
    kept_in_routing: z
      .boolean()
      .describe(
        'Whether calls still go to the unhealthy node because half of the nodes went silent at once.',
      ),
    last_heartbeat_at: timestamp('Time of the last heartbeat. Null before the first one.').nullable(),
    heartbeat_age_seconds: z.number().nullable().describe('Seconds since the last heartbeat.'),
    in_flight: z
      .int()
      .nullable()
      .describe(
        'Calls in flight to the node. Null if no process that routes reports on it, for example behind LiteLLM.',
      ),
    deployments: z
      .int()
      .nullable()
      .describe(
        'Deployments in the routing file with the host and port of `endpoint_url`. With 0, the node gets no calls. Null if no process that routes reports on it, for example behind LiteLLM.',
      ),
    drained_at: timestamp(
      'Time the last call ended after the node stopped taking new ones. Null if it takes calls, or calls are in flight.',
    ).nullable(),
    readings: readingsOutput,
    created_at: timestamp('Registration time.'),
    updated_at: timestamp('Time of the last change by an administrator.'),
  })
  .meta({ id: 'GpuNode', description: 'A GPU node.' });
export type NodeOutput = z.infer<typeof nodeOutput>;
export const nodeSettingsOutput = z
  .object({
    stale_after_seconds: z
      .number()
      .describe('Seconds without a heartbeat after which a node becomes unhealthy.'),
    accepts_heartbeats: z
      .boolean()
      .describe('Whether heartbeats are accepted: whether `GPU_HEARTBEAT_SECRET` is set.'),
  })
  .meta({ id: 'GpuNodeSettings', description: 'Settings of the node registry.' });
export type NodeSettingsOutput = z.infer<typeof nodeSettingsOutput>;

export const nodesChangeOutput = z
  .object({
    is_snapshot: z
      .boolean()
      .describe('Whether `nodes` are all nodes, as in the first event of a subscription.'),
    nodes: z.array(nodeOutput).describe('Registered and changed nodes.'),
    deleted_node_ids: z.array(uuid('Node ID.')).describe('IDs of deleted nodes.'),
  })
  .meta({ id: 'GpuNodesChange', description: 'Changes of nodes since the previous event.' });
export type NodesChangeOutput = z.infer<typeof nodesChangeOutput>;

export const nodesOutput = z.array(nodeOutput).describe('Nodes, newest first.');

export const heartbeatOutput = z
  .object({
    received_at: receivedAt,
    gpu_utilization: z.number().nullable().describe('GPU utilization in percent.'),
    memory_used_gb: z.number().nullable().describe('Used GPU memory in gigabytes.'),
    requests_running: z.int().nullable().describe('Number of requests in progress.'),
    requests_waiting: z.int().nullable().describe('Number of queued requests.'),
    kv_cache_usage: z.number().nullable().describe('Used share of the KV cache, 0 to 1.'),
    loaded_models: z.array(z.string()).nullable().describe('Loaded models.'),
  })
  .meta({ id: 'NodeHeartbeat', description: 'The metrics of a heartbeat.' });
export const heartbeatsOutput = z
  .array(heartbeatOutput)
  .describe('Heartbeats of the last 24 hours that carried metrics, newest first.');
export type HeartbeatOutput = z.infer<typeof heartbeatOutput>;

export const pulseOutput = z
  .object({
    node_id: uuid('Node ID.'),
    status: nodeOutput.shape.status,
    health_status: nodeOutput.shape.health_status,
    last_heartbeat_at: receivedAt,
  })
  .meta({ id: 'HeartbeatReceipt', description: 'The node after the heartbeat.' });
export type PulseOutput = z.infer<typeof pulseOutput>;

const ms = (description: string) => z.number().describe(`${description} in milliseconds.`);
const knownMs = (description: string) =>
  z.number().nullable().describe(`${description} in milliseconds. Null if not measured.`);

export const sweepStepOutput = z
  .object({
    concurrency: z.int().describe('Parallel requests.'),
    tokens_per_second: z.number().describe('Generated tokens per second, all requests together.'),
    p95_latency_ms: ms('95th percentile of latency'),
    ttft_p95_ms: knownMs('95th percentile of the time to the first token'),
    goodput: z.number().nullable().describe('Requests per second that met the objective.'),
    errors: z.int().describe('Failed requests.'),
  })
  .meta({ id: 'SweepStep', description: 'One concurrency of a benchmark sweep.' });

export const intervalOutput = z
  .object({
    measure: z.enum(MEASURES).describe('The measure.'),
    low: z.number().describe('Lower end.'),
    high: z.number().describe('Upper end.'),
  })
  .meta({ id: 'BenchmarkInterval', description: '95 % confidence interval of a measure.' });

export const benchmarkOutput = z
  .object({
    id: uuid('Benchmark ID.'),
    node_id: uuid('Node ID.'),
    model_public_name: z.string().describe('Public name of the model.'),
    total_requests: z.int().describe('Number of requests.'),
    concurrency: z.int().describe('Parallel requests.'),
    total_tokens: count('Generated tokens, all requests together.'),
    duration_ms: ms('Duration of the run'),
    tokens_per_second: z.number().describe('Generated tokens per second, all requests together.'),
    p50_latency_ms: ms('Median latency'),
    p95_latency_ms: ms('95th percentile of latency'),
    errors: z.int().describe('Failed requests.'),
    ttft_p50_ms: knownMs('Median time to the first token'),
    ttft_p95_ms: knownMs('95th percentile of the time to the first token'),
    itl_p50_ms: knownMs('Median time between two tokens'),
    itl_p95_ms: knownMs('95th percentile of the time between two tokens'),
    tpot_p50_ms: knownMs('Median time per token after the first'),
    goodput: z.number().nullable().describe('Requests per second that met `slo`. Null without an objective.'),
    slo: z.string().nullable().describe('The objective of the run.'),
    sweep: z.array(sweepStepOutput).nullable().describe('The other concurrencies that were tried.'),
    intervals: z
      .array(intervalOutput)
      .nullable()
      .describe('The 95 % interval of each measure that had enough requests. Null if not submitted.'),
    created_at: timestamp('Time the result was submitted.'),
  })
  .meta({ id: 'Benchmark', description: 'A benchmark run of a model on a node.' });
export type BenchmarkOutput = z.infer<typeof benchmarkOutput>;
export const benchmarksOutput = z.array(benchmarkOutput).describe('Benchmark runs, newest first.');
export const latestBenchmarksOutput = z
  .array(benchmarkOutput)
  .describe('The latest run of each node and model, newest first.');

const end = (of: string) =>
  z.number().nullable().describe(`${of} Null if the run has no interval of this measure.`);

export const comparedMeasureOutput = z
  .object({
    measure: z.enum(MEASURES).describe('The measure.'),
    base: z.number().describe('Value of the base run.'),
    base_low: end('Lower end of its 95 % interval.'),
    base_high: end('Upper end of its 95 % interval.'),
    other: z.number().describe('Value of the other run.'),
    other_low: end('Lower end of its 95 % interval.'),
    other_high: end('Upper end of its 95 % interval.'),
    change_pct: z
      .number()
      .nullable()
      .describe('Change from the base run in percent. Null if its value is 0.'),
    verdict: z
      .enum(['better', 'worse', 'inconclusive'])
      .describe('Result for the other run. `inconclusive` if the two intervals overlap.'),
  })
  .meta({ id: 'ComparedMeasure', description: 'One measure of two benchmark runs.' });

export const benchmarkComparisonOutput = z
  .object({
    base: benchmarkOutput.describe('The base run.'),
    other: benchmarkOutput.describe('The run to compare.'),
    differences: z
      .array(z.enum(['model_public_name', 'concurrency', 'slo']))
      .describe('Settings that differ. If there are any, they may explain the results.'),
    measures: z.array(comparedMeasureOutput).describe('Measures that both runs have.'),
  })
  .meta({ id: 'BenchmarkComparison', description: 'Two benchmark runs, measure by measure.' });
export type BenchmarkComparisonOutput = z.infer<typeof benchmarkComparisonOutput>;
