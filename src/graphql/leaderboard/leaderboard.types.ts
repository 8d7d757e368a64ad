import { ArgsType, Field, Float, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import {
  type LeaderboardInput,
  leaderboardInput,
  type UpdateModelInput as ModelUpdate,
  SORTS,
  updateModelInput,
} from '../../services/leaderboard/leaderboard.inputs.js';
import {
  type LeaderboardEntryOutput,
  type LeaderboardModelOutput,
  type LeaderboardOutput,
  leaderboardEntryOutput,
  leaderboardModelOutput,
  leaderboardOutput,
  type ModelHourOutput,
  modelHourOutput,
  type RecomputeOutput,
  recomputeOutput,
} from '../../services/leaderboard/leaderboard.outputs.js';
import { Model } from '../billing/billing.types.js';
import type { Camel } from '../case.js';
import { fieldDocs } from '../docs.js';
import { DateTime, Decimal } from '../scalars.js';

const LeaderboardSort = Object.fromEntries(SORTS.map((sort) => [sort.toUpperCase(), sort])) as Record<
  Uppercase<LeaderboardInput['sort_by']>,
  LeaderboardInput['sort_by']
>;
registerEnumType(LeaderboardSort, {
  name: 'LeaderboardSort',
  description: 'Order of the leaderboard.',
  valuesConfig: {
    RANKING_SCORE: { description: 'By ranking score, the highest first.' },
    P95_LATENCY: { description: 'By 95th percentile of latency, the lowest first.' },
    COST: { description: 'By output price, the lowest first.' },
    THROUGHPUT: { description: 'By output tokens per second, the highest first.' },
  },
});

const inputDoc = fieldDocs(leaderboardInput);

@ArgsType()
export class LeaderboardWindowArgs {
  @Field(() => Int, { defaultValue: 7, description: inputDoc.windowDays })
  windowDays!: number;
}

@ArgsType()
export class LeaderboardArgs extends LeaderboardWindowArgs {
  @Field(() => LeaderboardSort, {
    defaultValue: LeaderboardSort.RANKING_SCORE,
    description: 'Order of the entries.',
  })
  sortBy!: LeaderboardInput['sort_by'];
}

const entryDoc = fieldDocs(leaderboardEntryOutput);

@ObjectType({ description: leaderboardEntryOutput.description })
export class LeaderboardEntry implements Camel<LeaderboardEntryOutput> {
  @Field({ description: entryDoc.modelPublicName })
  modelPublicName!: string;

  @Field({ description: entryDoc.family })
  family!: string;

  @Field(() => Int, { description: entryDoc.contextWindow })
  contextWindow!: number;

  @Field({ description: entryDoc.isFeatured })
  isFeatured!: boolean;

  @Field(() => Float, { description: entryDoc.requests })
  requests!: number;

  @Field(() => Float, { description: entryDoc.successRate })
  successRate!: number;

  @Field(() => Float, { description: entryDoc.successRateLow })
  successRateLow!: number;

  @Field(() => Float, { description: entryDoc.successRateHigh })
  successRateHigh!: number;

  @Field(() => Float, { description: entryDoc.errorRate })
  errorRate!: number;

  @Field(() => Float, { description: entryDoc.rateLimitedShare })
  rateLimitedShare!: number;

  @Field(() => Int, { description: entryDoc.p50LatencyMs })
  p50LatencyMs!: number;

  @Field(() => Int, { description: entryDoc.p95LatencyMs })
  p95LatencyMs!: number;

  @Field(() => Int, { description: entryDoc.p95LowMs })
  p95LowMs!: number;

  @Field(() => Int, { description: entryDoc.p95HighMs })
  p95HighMs!: number;

  @Field(() => Int, { nullable: true, description: entryDoc.p50TtftMs })
  p50TtftMs!: number | null;

  @Field(() => Float, { nullable: true, description: entryDoc.outputTokensPerSecond })
  outputTokensPerSecond!: number | null;

  @Field(() => Int, { nullable: true, description: entryDoc.medianTokensIn })
  medianTokensIn!: number | null;

  @Field(() => Int, { nullable: true, description: entryDoc.medianTokensOut })
  medianTokensOut!: number | null;

  @Field(() => Float, { description: entryDoc.totalTokensIn })
  totalTokensIn!: number;

  @Field(() => Float, { description: entryDoc.totalTokensOut })
  totalTokensOut!: number;

  @Field(() => Decimal, { description: entryDoc.totalCostUsd })
  totalCostUsd!: string;

  @Field(() => Decimal, { description: entryDoc.inputPricePerMillionUsd })
  inputPricePerMillionUsd!: string;

  @Field(() => Decimal, { description: entryDoc.outputPricePerMillionUsd })
  outputPricePerMillionUsd!: string;

  @Field(() => Float, { nullable: true, description: entryDoc.rankingScore })
  rankingScore!: number | null;

  @Field(() => Int, { nullable: true, description: entryDoc.rank })
  rank!: number | null;

  @Field({ description: entryDoc.rankTied })
  rankTied!: boolean;

  @Field({ description: entryDoc.oneAccountDominates })
  oneAccountDominates!: boolean;
}

const hourDoc = fieldDocs(modelHourOutput);

@ObjectType({ description: modelHourOutput.description })
export class ModelHour implements Camel<ModelHourOutput> {
  @Field(() => DateTime, { description: hourDoc.hour })
  hour!: string;

  @Field(() => Float, { description: hourDoc.requests })
  requests!: number;

  @Field(() => Float, { description: hourDoc.errors })
  errors!: number;

  @Field(() => Int, { description: hourDoc.p50LatencyMs })
  p50LatencyMs!: number;

  @Field(() => Int, { description: hourDoc.p95LatencyMs })
  p95LatencyMs!: number;

  @Field(() => Float, { description: hourDoc.tokensIn })
  tokensIn!: number;

  @Field(() => Float, { description: hourDoc.tokensOut })
  tokensOut!: number;
}

const modelDoc = fieldDocs(leaderboardModelOutput);

@ObjectType({ description: leaderboardModelOutput.description })
export class LeaderboardModel extends LeaderboardEntry implements Camel<LeaderboardModelOutput> {
  @Field({ description: modelDoc.insufficientData })
  insufficientData!: boolean;

  @Field(() => DateTime, { description: modelDoc.generatedAt })
  generatedAt!: string;

  @Field(() => [ModelHour], { description: modelDoc.hourlyBreakdown })
  hourlyBreakdown!: ModelHour[];
}

const boardDoc = fieldDocs(leaderboardOutput);

@ObjectType({ description: leaderboardOutput.description })
export class Leaderboard implements Camel<LeaderboardOutput> {
  @Field(() => Int, { description: boardDoc.windowDays })
  windowDays!: number;

  @Field(() => Int, { description: boardDoc.totalEntries })
  totalEntries!: number;

  @Field(() => DateTime, { description: boardDoc.generatedAt })
  generatedAt!: string;

  @Field(() => [LeaderboardEntry], { description: boardDoc.entries })
  entries!: LeaderboardEntry[];

  @Field(() => [String], { description: boardDoc.insufficientDataModels })
  insufficientDataModels!: string[];
}

const updateDoc = fieldDocs(updateModelInput);

@InputType({ description: 'A model, and what is changed of it.' })
export class UpdateModelInput implements Camel<ModelUpdate & { name: string }> {
  @Field({ description: 'Public name of the model, with or without `gateway/`.' })
  name!: string;

  @Field({ description: updateDoc.isFeatured })
  isFeatured!: boolean;
}

@ObjectType({ description: 'The changed model.' })
export class UpdateModelPayload {
  @Field(() => Model, { description: 'The model as it is now.' })
  model!: Model;
}

const recomputeDoc = fieldDocs(recomputeOutput);

@ObjectType({ description: recomputeOutput.description })
export class RecomputeLeaderboardPayload implements Camel<RecomputeOutput> {
  @Field(() => Int, { description: recomputeDoc.hours })
  hours!: number;
}
