import { ArgsType, ID, ObjectType } from 'type-graphql';
import { whatIfInput } from '../../services/analytics/what-if.inputs.js';
import { whatIfOutput } from '../../services/analytics/what-if.outputs.js';
import {
  compareVersionsInput,
  promptVersionId,
  versionStatsInput,
} from '../../services/prompts/prompts.inputs.js';
import { versionComparisonOutput, versionStatsOutput } from '../../services/prompts/prompts.outputs.js';
import { enumOf } from '../enum-of.js';
import { inputFields, outputFields } from '../zod-fields.js';

@ArgsType()
export class PromptVersionStatsArgs extends inputFields(
  versionStatsInput.extend({ version_id: promptVersionId }),
  { versionId: ID },
) {}

@ArgsType()
export class ComparePromptVersionsArgs extends inputFields(compareVersionsInput) {}

@ArgsType()
export class WhatIfArgs extends inputFields(whatIfInput, { keyId: ID, promptVersionId: ID }) {}

@ObjectType({ description: versionStatsOutput.description })
export class PromptVersionStats extends outputFields(versionStatsOutput) {}

const FewerErrors = enumOf(
  'FewerErrors',
  'Which of two versions has the lower error rate.',
  versionComparisonOutput.shape.fewer_errors,
  {
    first: 'The first version.',
    second: 'The second version.',
    inconclusive: 'The 95% intervals of the two error rates overlap, so the calls show no clear difference.',
  },
);

@ObjectType({ description: versionComparisonOutput.description })
export class PromptVersionComparison extends outputFields(versionComparisonOutput, {
  first: PromptVersionStats,
  second: PromptVersionStats,
  fewerErrors: FewerErrors,
}) {}

@ObjectType({ description: whatIfOutput.description })
export class WhatIf extends outputFields(whatIfOutput) {}
