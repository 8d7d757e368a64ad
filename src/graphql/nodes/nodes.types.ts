import { ArgsType, Field, ID, InputType, ObjectType } from 'type-graphql';
import { z } from 'zod';
import { uuid } from '../../lib/output-fields.js';
import { economicsInput } from '../../services/nodes/economics.inputs.js';
import {
  benchmarkedOutput,
  nodeEconomicsOutput,
  servedModelOutput,
  usageAtConcurrencyOutput,
} from '../../services/nodes/economics.outputs.js';
import {
  compareBenchmarksInput,
  createNodeInput,
  heartbeatsInput,
  listBenchmarksInput,
  updateNodeInput,
} from '../../services/nodes/nodes.inputs.js';
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
import { Decimal } from '../scalars.js';
import { inputFields, outputFields } from '../zod-fields.js';

const NodeStatus = enumOf('GpuNodeStatus', 'Node status, set by administrators.', nodeOutput.shape.status, {
  active: 'The node takes calls.',
  draining: 'The node gets no new calls; calls in flight finish.',
  offline: 'The node gets no calls.',
});

const NodeHealth = enumOf('GpuNodeHealth', 'Node health.', nodeOutput.shape.health_status, {
  healthy: 'Heartbeats arrive.',
  unhealthy: 'Heartbeats are missing, or never came.',
});

@ObjectType({ description: readingOutput.description })
export class NodeReading extends outputFields(readingOutput) {}

@ObjectType({ description: loadedModelsOutput.description })
export class LoadedModels extends outputFields(loadedModelsOutput) {}

@ObjectType({ description: readingsOutput.description })
export class NodeReadings extends outputFields(readingsOutput, {
  gpuUtilization: NodeReading,
  memoryUsedGb: NodeReading,
  requestsRunning: NodeReading,
  requestsWaiting: NodeReading,
  kvCacheUsage: NodeReading,
  loadedModels: LoadedModels,
}) {}

@ObjectType({ description: heartbeatOutput.description })
export class NodeHeartbeat extends outputFields(heartbeatOutput) {}

@ObjectType({ description: nodeOutput.description })
export class GpuNode extends outputFields(
  nodeOutput.extend({ readings: readingsOutput.describe('What heartbeats said last, metric by metric.') }),
  { status: NodeStatus, healthStatus: NodeHealth, readings: NodeReadings },
) {}

@ObjectType({ description: nodeSettingsOutput.description })
export class GpuNodeSettings extends outputFields(nodeSettingsOutput) {}

@ObjectType({ description: nodesChangeOutput.description })
export class GpuNodesChange extends outputFields(nodesChangeOutput, { nodes: [GpuNode] }) {}

@ObjectType({ description: sweepStepOutput.description })
export class SweepStep extends outputFields(sweepStepOutput) {}

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

const Setting = enumOf(
  'BenchmarkSetting',
  'A setting of a benchmark run.',
  benchmarkComparisonOutput.shape.differences.element,
  {
    model_public_name: 'The model.',
    concurrency: 'Parallel requests.',
    slo: 'The objective.',
  },
);

@ObjectType({ description: intervalOutput.description })
export class BenchmarkInterval extends outputFields(intervalOutput, { measure: Measure }) {}

@ObjectType({ description: benchmarkOutput.description })
export class Benchmark extends outputFields(benchmarkOutput, {
  sweep: [SweepStep],
  intervals: [BenchmarkInterval],
}) {}

const Verdict = enumOf(
  'BenchmarkVerdict',
  'How one benchmark run does beside another.',
  comparedMeasureOutput.shape.verdict,
  {
    better: 'It does better.',
    worse: 'It does worse.',
    inconclusive: 'The intervals overlap, or are not known.',
  },
);

@ObjectType({ description: comparedMeasureOutput.description })
export class ComparedMeasure extends outputFields(comparedMeasureOutput, {
  measure: Measure,
  verdict: Verdict,
}) {}

@ObjectType({ description: benchmarkComparisonOutput.description })
export class BenchmarkComparison extends outputFields(benchmarkComparisonOutput, {
  base: Benchmark,
  other: Benchmark,
  differences: [Setting],
  measures: [ComparedMeasure],
}) {}

@ObjectType({ description: usageAtConcurrencyOutput.description })
export class UsageAtConcurrency extends outputFields(usageAtConcurrencyOutput) {}

@ObjectType({ description: benchmarkedOutput.description })
export class BenchmarkBesideUsage extends outputFields(benchmarkedOutput, { usage: UsageAtConcurrency }) {}

@ObjectType({ description: servedModelOutput.description })
export class ServedModel extends outputFields(servedModelOutput, { benchmark: BenchmarkBesideUsage }) {}

@ObjectType({ description: nodeEconomicsOutput.description })
export class NodeEconomics extends outputFields(nodeEconomicsOutput, { models: [ServedModel] }) {}

const nodeId = z.object({ id: uuid('Node ID.') });

@ArgsType()
export class NodesArgs extends inputFields(heartbeatsInput) {}

@ArgsType()
export class NodeArgs extends inputFields(nodeId) {}

@ArgsType()
export class NodesChangedArgs extends inputFields(
  z.object({ node_id: uuid('Only this node.').optional() }),
) {}

@ArgsType()
export class NodeHeartbeatsArgs extends inputFields(nodeId.extend(heartbeatsInput.shape)) {}

@ArgsType()
export class BenchmarksArgs extends inputFields(listBenchmarksInput) {}

@ArgsType()
export class CompareBenchmarksArgs extends inputFields(compareBenchmarksInput) {}

@ArgsType()
export class NodeEconomicsArgs extends inputFields(economicsInput) {}

@InputType({ description: createNodeInput.description })
export class CreateGpuNodeInput extends inputFields(createNodeInput, { hourlyCostUsd: Decimal }) {}

@InputType({ description: 'A node and its changes.' })
export class UpdateGpuNodeInput extends inputFields(nodeId.extend(updateNodeInput.shape), {
  hourlyCostUsd: Decimal,
  status: NodeStatus,
}) {}

@InputType({ description: 'The node to delete.' })
export class DeleteGpuNodeInput extends inputFields(nodeId) {}

@ObjectType()
abstract class NodePayload {
  @Field(() => GpuNode, { description: 'The node as it is now.' })
  node!: GpuNode;
}

@ObjectType({ description: 'The registered node.' })
export class CreateGpuNodePayload extends NodePayload {}

@ObjectType({ description: 'The updated node.' })
export class UpdateGpuNodePayload extends NodePayload {}

@ObjectType({ description: 'The result of deleting a node.' })
export class DeleteGpuNodePayload {
  @Field(() => ID, { description: 'ID of the deleted node.' })
  deletedGpuNodeId!: string;
}
