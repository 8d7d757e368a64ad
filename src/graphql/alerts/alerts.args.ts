import { Field, ID, InputType, Int } from 'type-graphql';
import { createAlertInput, lowBalanceInput, updateAlertInput } from '../../services/alerts/alerts.inputs.js';
import { fieldDocs } from '../docs.js';
import { Decimal } from '../scalars.js';
import { AlertKind } from './alerts.types.js';

const create = fieldDocs(createAlertInput);
const update = fieldDocs(updateAlertInput);

@InputType()
abstract class KeyIdInput {
  @Field(() => ID, { description: 'Id of the key.' })
  keyId!: string;
}

@InputType()
abstract class AlertIdInput extends KeyIdInput {
  @Field(() => ID, { description: 'Id of the subscription.' })
  id!: string;
}

@InputType({ description: 'A new alert subscription of an API key.' })
export class CreateAlertSubscriptionInput extends KeyIdInput {
  @Field(() => AlertKind, { description: create.kind })
  kind!: 'email' | 'webhook';

  @Field({ description: create.destination })
  destination!: string;

  @Field(() => [Int], { description: create.thresholdsPct })
  thresholdsPct!: number[];

  @Field({ nullable: true, description: create.active })
  active?: boolean;
}

@InputType({ description: 'What changes of a subscription. What is left out stays.' })
export class UpdateAlertSubscriptionInput extends AlertIdInput {
  @Field({ nullable: true, description: update.destination })
  destination?: string;

  @Field(() => [Int], { nullable: true, description: update.thresholdsPct })
  thresholdsPct?: number[];

  @Field({ nullable: true, description: update.active })
  active?: boolean;
}

@InputType({ description: 'A subscription that is to go.' })
export class DeleteAlertSubscriptionInput extends AlertIdInput {}

@InputType({ description: 'A subscription that is to be tested.' })
export class SendTestAlertInput extends AlertIdInput {}

@InputType({ description: 'A webhook that is to get a new secret.' })
export class RotateAlertSecretInput extends AlertIdInput {}

@InputType({ description: 'An event that is to be delivered once more.' })
export class RedeliverAlertEventInput {
  @Field(() => ID, { description: 'Id of the event.' })
  eventId!: string;
}

@InputType({ description: 'When a low balance is to be told.' })
export class SetLowBalanceAlertInput {
  @Field(() => Decimal, { nullable: true, description: fieldDocs(lowBalanceInput).thresholdUsd })
  thresholdUsd!: number | string | null;
}
