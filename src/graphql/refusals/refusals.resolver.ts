import type { ComplexityEstimator } from 'graphql-query-complexity';
import { usageParams } from '../../services/billing/billing.inputs.js';
import { refusalsInput } from '../../services/refusals/refusals.inputs.js';
import {
  refusalHourOutput,
  refusedCallOutput,
  refusedCallsOutput,
  rejectedCallOutput,
} from '../../services/refusals/refusals.outputs.js';
import { Viewer } from '../accounts/accounts.types.js';
import { toGraphql } from '../case.js';
import { enumOf } from '../enum-of.js';
import { field } from '../fields.js';
import { checked } from '../input.js';
import { ApiKey } from '../keys/keys.types.js';
import { objectType } from '../zod-fields.js';

enumOf(
  'RefusedKeyStatus',
  'Status of the key that rejected calls used.',
  refusedCallOutput.shape.key_status,
  { active: 'The key can be used.', disabled: 'The key is disabled.', deleted: 'The key was deleted.' },
);

objectType('RefusedCall', refusedCallOutput);
const RejectedCall = objectType(
  'RejectedCall',
  rejectedCallOutput.omit({ status: true }).meta({ description: rejectedCallOutput.description }),
);
const RefusedCalls = objectType('RefusedCalls', refusedCallsOutput);
const RefusalHour = objectType('RefusalHour', refusalHourOutput);

/** Up to 100 reasons, summed over the hours of a window. */
const refusalsCost: ComplexityEstimator = ({ args, childComplexity }) =>
  50 + Math.min(Math.max(args.windowDays, 1), 90) + childComplexity;

/** Refused calls, of the account and of a key. */
export const refusalsResolvers = [
  field(Viewer, 'refusedCalls', RefusedCalls, {
    description: 'Recently rejected calls of the account, and how to fix them.',
    complexity: refusalsCost,
    args: refusalsInput,
    run: ({ services, service }, args) =>
      toGraphql(services.refusals.ofAccount(service, checked(refusalsInput, args))),
  }),
  field(Viewer, 'rejectedCall', RejectedCall, {
    nullable: true,
    description:
      'One call that was rejected before it reached a model, by its `x-request-id`. Rejected calls are kept for 30 days; of similar ones in one hour, only the latest 50.',
    args: usageParams,
    run: ({ services, service }, { id }) => toGraphql(services.refusals.call(service, id)),
  }),
  field(Viewer, 'refusals', [RefusalHour], {
    description: 'Rejected calls of the account by hour, latest first; at most 5,000.',
    complexity: ({ args, childComplexity }) =>
      Math.min(Math.max(args.windowDays, 1), 90) * (5 + childComplexity),
    args: refusalsInput,
    run: ({ services, service }, args) =>
      toGraphql(services.refusals.byHour(service, checked(refusalsInput, args))),
  }),
  field(ApiKey, 'refusedCalls', RefusedCalls, {
    nullable: true,
    description: 'Recently rejected calls with the key; null if the key was deleted.',
    complexity: refusalsCost,
    args: refusalsInput,
    run: ({ loaders }, args, { id }) =>
      toGraphql(loaders.keyRefusals.load({ id, window: checked(refusalsInput, args) })),
  }),
];
