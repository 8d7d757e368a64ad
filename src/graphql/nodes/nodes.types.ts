import { ArgsType, Field, ID, InputType, ObjectType } from 'type-graphql';
import { z } from 'zod';
import { uuid } from '../../lib/output-fields.js';
import {
  createNodeInput,
  heartbeatsInput,
  listBenchmarksInput,
  updateNodeInput,
} from '../../services/nodes/nodes.inputs.js';
import {
  benchmarkOutput,
  heartbeatOutput,
  loadedModelsOutput,
  nodeOutput,
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

@ObjectType({ description: sweepStepOutput.description })
export class SweepStep extends outputFields(sweepStepOutput) {}

@ObjectType({ description: benchmarkOutput.description })
export class Benchmark extends outputFields(benchmarkOutput, { sweep: [SweepStep] }) {}

const nodeId = z.object({ id: uuid('Node ID.') });

@ArgsType()
export class NodesArgs extends inputFields(heartbeatsInput) {}

@ArgsType()
export class NodeArgs extends inputFields(nodeId) {}

@ArgsType()
export class NodeHeartbeatsArgs extends inputFields(nodeId.extend(heartbeatsInput.shape)) {}

@ArgsType()
export class BenchmarksArgs extends inputFields(listBenchmarksInput) {}

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
