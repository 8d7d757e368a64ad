import { ArgsType, Field, InputType, Int, ObjectType } from 'type-graphql';
import {
  leaderboardInput,
  modelNameParams,
  modelWindowInput,
  SORT_BY,
  updateModelInput,
} from '../../services/leaderboard/leaderboard.inputs.js';
import {
  leaderboardEntryOutput,
  leaderboardModelOutput,
  leaderboardOutput,
  leaderboardRowOutput,
  modelHourOutput,
  recomputeOutput,
  sketchPointOutput,
} from '../../services/leaderboard/leaderboard.outputs.js';
import { Model } from '../billing/billing.types.js';
import { enumOf } from '../enum-of.js';
import { inputFields, outputFields } from '../zod-fields.js';

const LeaderboardSort = enumOf('LeaderboardSort', 'Order of the leaderboard.', SORT_BY, {
  ranking_score: 'By ranking score, highest first.',
  p95_latency: 'By 95th percentile of latency, lowest first.',
  cost: 'By output price, lowest first.',
  throughput: 'By output tokens per second, highest first.',
});

@ArgsType()
export class LeaderboardArgs extends inputFields(leaderboardInput, {
  windowDays: Int,
  sortBy: LeaderboardSort,
}) {}

@ArgsType()
export class LeaderboardModelArgs extends inputFields(modelNameParams.extend(modelWindowInput.shape), {
  windowDays: Int,
}) {}

@ObjectType({ description: leaderboardEntryOutput.description })
export class LeaderboardEntry extends outputFields(leaderboardEntryOutput) {}

@ObjectType({ description: modelHourOutput.description })
export class ModelHour extends outputFields(modelHourOutput) {}

@ObjectType({ description: leaderboardModelOutput.description })
export class LeaderboardModel extends outputFields(leaderboardModelOutput, {
  hourlyBreakdown: [ModelHour],
}) {}

@ObjectType({ description: leaderboardOutput.description })
export class Leaderboard extends outputFields(leaderboardOutput, { entries: [LeaderboardEntry] }) {}

@ObjectType({ description: sketchPointOutput.description })
export class SketchPoint extends outputFields(sketchPointOutput) {}

@ObjectType({ description: leaderboardRowOutput.description })
export class LeaderboardRow extends outputFields(leaderboardRowOutput, {
  latencyMs: [SketchPoint],
  ttftMs: [SketchPoint],
  inputTokens: [SketchPoint],
  outputTokens: [SketchPoint],
}) {}

@InputType({ description: 'A model and its changes.' })
export class UpdateModelInput extends inputFields(modelNameParams.extend(updateModelInput.shape)) {}

@ObjectType({ description: 'The updated model.' })
export class UpdateModelPayload {
  @Field(() => Model, { description: 'The updated model.' })
  model!: Model;
}

@ObjectType({ description: recomputeOutput.description })
export class RecomputeLeaderboardPayload extends outputFields(recomputeOutput) {}
