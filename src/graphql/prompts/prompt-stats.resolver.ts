import type { ComplexityEstimator } from 'graphql-query-complexity';
import { ID } from 'type-graphql';
import { whatIfInput } from '../../services/analytics/what-if.inputs.js';
import { whatIfOutput } from '../../services/analytics/what-if.outputs.js';
import {
  compareVersionsInput,
  promptVersionId,
  versionStatsInput,
} from '../../services/prompts/prompts.inputs.js';
import { versionComparisonOutput, versionStatsOutput } from '../../services/prompts/prompts.outputs.js';
import { Viewer } from '../accounts/accounts.types.js';
import { toGraphql } from '../case.js';
import { enumOf } from '../enum-of.js';
import { field } from '../fields.js';
import { checked } from '../input.js';
import { objectType } from '../zod-fields.js';
import { Prompt } from './prompts.types.js';

enumOf(
  'FewerErrors',
  'Which of two versions has the lower error rate.',
  versionComparisonOutput.shape.fewer_errors,
  {
    first: 'The first version.',
    second: 'The second version.',
    inconclusive: 'The 95% intervals of the two error rates overlap, so the calls show no clear difference.',
  },
);

const PromptVersionStats = objectType('PromptVersionStats', versionStatsOutput);
const PromptVersionComparison = objectType('PromptVersionComparison', versionComparisonOutput);

/** Reads thousands of rows for a few values: three of them fit into an operation. */
const readingCost: ComplexityEstimator = ({ args, childComplexity }) =>
  2_500 + Math.min(Math.max(args.windowDays, 1), 90) + childComplexity;

/** Call statistics of prompt versions, and the cost of calls on another model. */
export const promptStatsResolvers = [
  field(Prompt, 'versionStats', PromptVersionStats, {
    nullable: true,
    description: 'Statistics of calls that sent the version ID in the header `X-Gateway-Prompt-Version`.',
    complexity: readingCost,
    args: versionStatsInput.extend({ version_id: promptVersionId }),
    argTypes: { versionId: ID },
    run: async ({ services, service }, { versionId, ...args }, { id }) => {
      const input = { ...checked(versionStatsInput, args), id, vid: versionId };
      return toGraphql(services.versionStats.ofVersion(service, input));
    },
  }),
  field(Prompt, 'comparison', PromptVersionComparison, {
    nullable: true,
    description: 'Call statistics of two versions.',
    complexity: readingCost,
    args: compareVersionsInput,
    run: ({ services, service }, args, { id }) =>
      toGraphql(services.versionStats.compare(service, { ...checked(compareVersionsInput, args), id })),
  }),
  field(Viewer, 'whatIf', objectType('WhatIf', whatIfOutput), {
    nullable: true,
    description: 'What recent calls would have cost on another model.',
    complexity: readingCost,
    args: whatIfInput,
    argTypes: { keyId: ID, promptVersionId: ID },
    run: ({ services, service }, args) =>
      toGraphql(services.whatIf.estimate(service, checked(whatIfInput, args))),
  }),
];
