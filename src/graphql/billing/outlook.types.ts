import { ObjectType } from 'type-graphql';
import { outlookOutput } from '../../services/billing/outlook.outputs.js';
import { enumOf } from '../enum-of.js';
import { outputFields } from '../zod-fields.js';

const BalanceState = enumOf('BalanceState', 'State of the balance.', outlookOutput.shape.state, {
  fine: 'The balance is sufficient.',
  low: 'The balance will be used up soon.',
  stopped: 'The balance is used up, and calls are rejected.',
});

@ObjectType({ description: outlookOutput.description })
export class BalanceOutlook extends outputFields(outlookOutput, { state: BalanceState }) {}
