import { ArgsType, Field, Float, Int, ObjectType } from 'type-graphql';
import { analyticsInput } from '../../services/analytics/analytics.inputs.js';
import {
  type AnalyticsDayOutput,
  type AnalyticsOutput,
  analyticsDayOutput,
  analyticsOutput,
  type ModelShareOutput,
  modelShareOutput,
} from '../../services/analytics/analytics.outputs.js';
import type { Camel } from '../case.js';
import { fieldDocs } from '../docs.js';
import { Decimal } from '../scalars.js';

@ArgsType()
export class AnalyticsArgs {
  @Field(() => Int, { defaultValue: 30, description: fieldDocs(analyticsInput).windowDays })
  windowDays!: number;

  @Field(() => Int, { defaultValue: 0, description: fieldDocs(analyticsInput).endsDaysAgo })
  endsDaysAgo!: number;
}

const modelDoc = fieldDocs(modelShareOutput);

@ObjectType({ description: modelShareOutput.description })
export class AnalyticsModel implements Camel<ModelShareOutput> {
  @Field({ description: modelDoc.modelPublicName })
  modelPublicName!: string;

  @Field(() => Float, { description: modelDoc.requests })
  requests!: number;

  @Field(() => Decimal, { description: modelDoc.costUsd })
  costUsd!: string;
}

const dayDoc = fieldDocs(analyticsDayOutput);

@ObjectType({ description: analyticsDayOutput.description })
export class AnalyticsDay implements Camel<AnalyticsDayOutput> {
  @Field({ description: dayDoc.date })
  date!: string;

  @Field(() => Float, { description: dayDoc.requests })
  requests!: number;

  @Field(() => Float, { description: dayDoc.errors })
  errors!: number;

  @Field(() => Decimal, { description: dayDoc.costUsd })
  costUsd!: string;
}

const doc = fieldDocs(analyticsOutput);

/** Counts and tokens may exceed what GraphQL calls an Int. */
@ObjectType({ description: analyticsOutput.description })
export class Analytics implements Camel<AnalyticsOutput> {
  @Field(() => Int, { description: doc.windowDays })
  windowDays!: number;

  @Field(() => Float, { description: doc.totalRequests })
  totalRequests!: number;

  @Field(() => Float, { description: doc.errorCount })
  errorCount!: number;

  @Field(() => Float, { description: doc.errorRate })
  errorRate!: number;

  @Field(() => Int, { description: doc.p50LatencyMs })
  p50LatencyMs!: number;

  @Field(() => Int, { description: doc.p95LatencyMs })
  p95LatencyMs!: number;

  @Field(() => Decimal, { description: doc.totalCostUsd })
  totalCostUsd!: string;

  @Field(() => Float, { description: doc.totalTokensIn })
  totalTokensIn!: number;

  @Field(() => Float, { description: doc.totalTokensOut })
  totalTokensOut!: number;

  @Field(() => [AnalyticsModel], { description: doc.topModels })
  topModels!: AnalyticsModel[];

  @Field(() => [AnalyticsDay], { description: doc.dailyBreakdown })
  dailyBreakdown!: AnalyticsDay[];
}
