import { ObjectType } from 'type-graphql';
import {
  refusalHourOutput,
  refusedCallOutput,
  refusedCallsOutput,
} from '../../services/refusals/refusals.outputs.js';
import { enumOf } from '../enum-of.js';
import { outputFields } from '../zod-fields.js';

const RefusedKeyStatus = enumOf(
  'RefusedKeyStatus',
  'Status of the key that rejected calls used.',
  refusedCallOutput.shape.key_status,
  { active: 'The key can be used.', disabled: 'The key is disabled.', deleted: 'The key was deleted.' },
);

@ObjectType({ description: refusedCallOutput.description })
export class RefusedCall extends outputFields(refusedCallOutput, { keyStatus: RefusedKeyStatus }) {}

@ObjectType({ description: refusedCallsOutput.description })
export class RefusedCalls extends outputFields(refusedCallsOutput, { reasons: [RefusedCall] }) {}

@ObjectType({ description: refusalHourOutput.description })
export class RefusalHour extends outputFields(refusalHourOutput) {}
