import { Field, ID, ObjectType } from 'type-graphql';
import {
  alertEventOutput,
  alertOutput,
  createdAlertOutput,
  lowBalanceOutput,
  signingSecretOutput,
} from '../../services/alerts/alerts.outputs.js';
import { connectionOf, pageOf } from '../connections.js';
import { enumOf } from '../enum-of.js';
import { descriptionOf, outputFields } from '../zod-fields.js';

export const AlertKind = enumOf('AlertKind', 'How somebody is told.', alertOutput.shape.kind, {
  email: 'By mail.',
  webhook: 'By a signed POST to a URL.',
});

const AlertPurpose = enumOf('AlertPurpose', 'Why somebody is told.', alertEventOutput.shape.purpose, {
  threshold: 'The key has spent a percentage of its monthly limit.',
  test: 'The owner asked for a test.',
  low_balance: 'The balance of the account fell below its threshold.',
});

const AlertDeliveryStatus = enumOf(
  'AlertDeliveryStatus',
  'How a delivery stands.',
  alertEventOutput.shape.delivery_status,
  {
    pending: 'It is on its way.',
    sent: 'It arrived.',
    failed: 'It was refused, or nobody answered.',
    degraded: 'It is recorded and was not mailed, for the reason that is given.',
  },
);

@ObjectType({ description: alertOutput.description })
export class AlertSubscription extends outputFields(alertOutput, { kind: AlertKind }) {}

@ObjectType({ description: alertEventOutput.description })
export class AlertEvent extends outputFields(alertEventOutput, {
  purpose: AlertPurpose,
  kind: AlertKind,
  deliveryStatus: AlertDeliveryStatus,
}) {}

@ObjectType({ description: pageOf('alert events') })
export class AlertEventConnection extends connectionOf(AlertEvent, 'alert events') {}

@ObjectType({ description: createdAlertOutput.description })
export class CreateAlertSubscriptionPayload {
  @Field(() => AlertSubscription, { description: 'The subscription.' })
  alertSubscription!: AlertSubscription;

  @Field(() => String, {
    nullable: true,
    description: descriptionOf(createdAlertOutput.shape.signing_secret),
  })
  signingSecret!: string | null;
}

@ObjectType({ description: 'A subscription after a change.' })
export class UpdateAlertSubscriptionPayload {
  @Field(() => AlertSubscription, { description: 'The subscription as it is now.' })
  alertSubscription!: AlertSubscription;
}

@ObjectType({ description: 'What was deleted.' })
export class DeleteAlertSubscriptionPayload {
  @Field(() => ID, { description: 'Id of the subscription that is gone.' })
  deletedAlertSubscriptionId!: string;
}

@ObjectType()
abstract class AlertEventPayload {
  @Field(() => AlertEvent, { description: 'The event with its delivery as it stands now.' })
  alertEvent!: AlertEvent;
}

@ObjectType({ description: 'A test that is on its way.' })
export class SendTestAlertPayload extends AlertEventPayload {}

@ObjectType({ description: 'An event that is on its way once more.' })
export class RedeliverAlertEventPayload extends AlertEventPayload {}

@ObjectType({ description: 'A new signing secret.' })
export class RotateAlertSecretPayload extends outputFields(signingSecretOutput) {}

@ObjectType({ description: 'When a low balance is told.' })
export class SetLowBalanceAlertPayload extends outputFields(lowBalanceOutput) {}
