import { ArgsType, Field, Float, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { whatIfInput } from '../../services/analytics/what-if.inputs.js';
import { type WhatIfOutput, whatIfOutput } from '../../services/analytics/what-if.outputs.js';
import { compareVersionsInput, versionStatsInput } from '../../services/prompts/prompts.inputs.js';
import {
  type VersionComparisonOutput,
  type VersionStatsOutput,
  versionComparisonOutput,
  versionStatsOutput,
} from '../../services/prompts/prompts.outputs.js';
import type { Camel } from '../case.js';
import { fieldDocs } from '../docs.js';
import { Decimal } from '../scalars.js';

const statsArgsDoc = fieldDocs(versionStatsInput);

@ArgsType()
export class PromptVersionStatsArgs {
  @Field(() => ID, { description: 'Id of the version.' })
  versionId!: string;

  @Field(() => Int, { defaultValue: 30, description: statsArgsDoc.windowDays })
  windowDays!: number;
}

const compareArgsDoc = fieldDocs(compareVersionsInput);

@ArgsType()
export class ComparePromptVersionsArgs {
  @Field(() => Int, { description: compareArgsDoc.first })
  first!: number;

  @Field(() => Int, { description: compareArgsDoc.second })
  second!: number;

  @Field(() => Int, { defaultValue: 30, description: compareArgsDoc.windowDays })
  windowDays!: number;
}

const whatIfArgsDoc = fieldDocs(whatIfInput);

@ArgsType()
export class WhatIfArgs {
  @Field({ description: whatIfArgsDoc.model })
  model!: string;

  @Field(() => Int, { defaultValue: 30, description: whatIfArgsDoc.windowDays })
  windowDays!: number;

  @Field(() => ID, { nullable: true, description: whatIfArgsDoc.keyId })
  keyId?: string | null;

  @Field(() => ID, { nullable: true, description: whatIfArgsDoc.promptVersionId })
  promptVersionId?: string | null;
}

const doc = fieldDocs(versionStatsOutput);

/** Counts and tokens may exceed what GraphQL calls an Int. */
@ObjectType({ description: versionStatsOutput.description })
export class PromptVersionStats implements Camel<VersionStatsOutput> {
  @Field(() => ID, { description: doc.versionId })
  versionId!: string;

  @Field(() => Int, { description: doc.version })
  version!: number;

  @Field(() => Int, { description: doc.windowDays })
  windowDays!: number;

  @Field(() => Float, { description: doc.requests })
  requests!: number;

  @Field(() => Float, { description: doc.errors })
  errors!: number;

  @Field(() => Float, { description: doc.errorRate })
  errorRate!: number;

  @Field(() => Float, { description: doc.errorRateLow })
  errorRateLow!: number;

  @Field(() => Float, { description: doc.errorRateHigh })
  errorRateHigh!: number;

  @Field(() => Int, { description: doc.p50LatencyMs })
  p50LatencyMs!: number;

  @Field(() => Int, { description: doc.p95LatencyMs })
  p95LatencyMs!: number;

  @Field(() => Float, { description: doc.inputTokens })
  inputTokens!: number;

  @Field(() => Float, { description: doc.outputTokens })
  outputTokens!: number;

  @Field(() => Decimal, { description: doc.costUsd })
  costUsd!: string;
}

export const FewerErrors = { FIRST: 'first', SECOND: 'second', INCONCLUSIVE: 'inconclusive' } as const;
registerEnumType(FewerErrors, {
  name: 'FewerErrors',
  description: 'Which of two versions fails less often.',
  valuesConfig: {
    FIRST: { description: 'The first.' },
    SECOND: { description: 'The second.' },
    INCONCLUSIVE: { description: 'The 95 % intervals of their error rates overlap: the calls do not say.' },
  },
});

const comparisonDoc = fieldDocs(versionComparisonOutput);

@ObjectType({ description: versionComparisonOutput.description })
export class PromptVersionComparison implements Camel<VersionComparisonOutput> {
  @Field(() => PromptVersionStats, { description: comparisonDoc.first })
  first!: PromptVersionStats;

  @Field(() => PromptVersionStats, { description: comparisonDoc.second })
  second!: PromptVersionStats;

  @Field(() => FewerErrors, { description: comparisonDoc.fewerErrors })
  fewerErrors!: 'first' | 'second' | 'inconclusive';
}

const whatIfDoc = fieldDocs(whatIfOutput);

@ObjectType({ description: whatIfOutput.description })
export class WhatIf implements Camel<WhatIfOutput> {
  @Field(() => Int, { description: whatIfDoc.windowDays })
  windowDays!: number;

  @Field({ description: whatIfDoc.modelPublicName })
  modelPublicName!: string;

  @Field(() => Float, { description: whatIfDoc.requests })
  requests!: number;

  @Field(() => Float, { description: whatIfDoc.inputTokens })
  inputTokens!: number;

  @Field(() => Float, { description: whatIfDoc.outputTokens })
  outputTokens!: number;

  @Field(() => Decimal, { description: whatIfDoc.actualCostUsd })
  actualCostUsd!: string;

  @Field(() => Decimal, { description: whatIfDoc.estimatedCostUsd })
  estimatedCostUsd!: string;

  @Field(() => Decimal, { description: whatIfDoc.differenceUsd })
  differenceUsd!: string;
}
