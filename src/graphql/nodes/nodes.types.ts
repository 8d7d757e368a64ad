import {
  benchmarkedOutput,
  nodeEconomicsOutput,
  servedModelOutput,
  usageAtConcurrencyOutput,
} from '../../services/nodes/economics.outputs.js';
import {
  benchmarkComparisonOutput,
  benchmarkOutput,
  comparedMeasureOutput,
  heartbeatOutput,
  intervalOutput,
  loadedModelsOutput,
  nodeOutput,
  nodeSettingsOutput,
  nodesChangeOutput,
  readingOutput,
  readingsOutput,
  sweepStepOutput,
} from '../../services/nodes/nodes.outputs.js';
import { enumOf } from '../enum-of.js';
import { nameType, objectType } from '../zod-fields.js';

export const NodeStatus = enumOf(
  'GpuNodeStatus',
  'Node status, set by administrators.',
  nodeOutput.shape.status,
  {
    active: 'The node takes calls.',
    draining: 'The node gets no new calls; calls in flight finish.',
    offline: 'The node gets no calls.',
  },
);

enumOf('GpuNodeHealth', 'Node health.', nodeOutput.shape.health_status, {
  healthy: 'Heartbeats arrive.',
  unhealthy: 'Heartbeats are missing, or none has arrived yet.',
});

objectType('NodeReading', readingOutput);
objectType('LoadedModels', loadedModelsOutput);
objectType('NodeReadings', readingsOutput);
export const NodeHeartbeat = objectType('NodeHeartbeat', heartbeatOutput);
export const GpuNode = objectType(
  'GpuNode',
  nodeOutput
    .extend({ readings: readingsOutput.describe('Latest value of each metric.') })
    .describe(nodeOutput.description ?? ''),
);
nameType(nodeOutput, GpuNode);
export const GpuNodeSettings = objectType('GpuNodeSettings', nodeSettingsOutput);
export const GpuNodesChange = objectType('GpuNodesChange', nodesChangeOutput);
objectType('SweepStep', sweepStepOutput);

const Measure = enumOf('BenchmarkMeasure', 'What a benchmark measures.', intervalOutput.shape.measure, {
  error_rate: 'Share of failed requests, 0 to 1.',
  tokens_per_second: 'Generated tokens per second.',
  goodput: 'Requests per second that met the objective.',
  p50_latency_ms: 'Median latency.',
  p95_latency_ms: '95th percentile of latency.',
  ttft_p50_ms: 'Median time to the first token.',
  ttft_p95_ms: '95th percentile of the time to the first token.',
  itl_p50_ms: 'Median time between two tokens.',
  itl_p95_ms: '95th percentile of the time between two tokens.',
  tpot_p50_ms: 'Median time per token after the first.',
});

enumOf(
  'BenchmarkSetting',
  'A setting of a benchmark run.',
  benchmarkComparisonOutput.shape.differences.element,
  {
    model_public_name: 'The model.',
    concurrency: 'Parallel requests.',
    slo: 'The objective.',
  },
);

objectType('BenchmarkInterval', intervalOutput);
export const Benchmark = objectType('Benchmark', benchmarkOutput);

enumOf('BenchmarkVerdict', 'Comparison of two benchmark runs.', comparedMeasureOutput.shape.verdict, {
  better: 'Better than the base run.',
  worse: 'Worse than the base run.',
  inconclusive: 'The intervals overlap, or are unknown.',
});

objectType('ComparedMeasure', comparedMeasureOutput, { measure: Measure });
export const BenchmarkComparison = objectType('BenchmarkComparison', benchmarkComparisonOutput);
objectType('UsageAtConcurrency', usageAtConcurrencyOutput);
objectType('BenchmarkBesideUsage', benchmarkedOutput);
objectType('ServedModel', servedModelOutput);
export const NodeEconomics = objectType('NodeEconomics', nodeEconomicsOutput);
