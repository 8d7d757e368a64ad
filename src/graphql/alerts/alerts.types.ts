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
import { ApiKeyGuardAction } from '../keys/keys.types.js';
import { descriptionOf, outputFields } from '../zod-fields.js';

export const AlertKind = enumOf('AlertKind', 'Delivery channel.', alertOutput.shape.kind, {
  email: 'Email.',
  webhook: 'A signed POST request to a URL.',
});

const AlertPurpose = enumOf('AlertPurpose', 'Reason for an alert.', alertEventOutput.shape.purpose, {
  threshold: 'The key reached a percentage of its monthly limit.',
  test: 'The owner requested a test.',
  low_balance: 'The account balance fell below the low-balance threshold.',
  guard: 'The guard of the key acted.',
});

const AlertDeliveryStatus = enumOf(
  'AlertDeliveryStatus',
  'Delivery status.',
  alertEventOutput.shape.delivery_status,
  {
    pending: 'Delivery is in progress.',
    sent: 'Delivered.',
    failed: "The receiver rejected the delivery or didn't respond.",
    degraded: 'Recorded but not emailed; the error message gives the reason.',
  },
);

@ObjectType({ description: alertOutput.description })
export class AlertSubscription extends outputFields(alertOutput, { kind: AlertKind }) {}

@ObjectType({ description: alertEventOutput.description })
export class AlertEvent extends outputFields(alertEventOutput, {
  purpose: AlertPurpose,
  kind: AlertKind,
  deliveryStatus: AlertDeliveryStatus,
  guardAction: ApiKeyGuardAction,
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

@ObjectType({ description: 'The updated alert subscription.' })
export class UpdateAlertSubscriptionPayload {
  @Field(() => AlertSubscription, { description: 'The updated alert subscription.' })
  alertSubscription!: AlertSubscription;
}

@ObjectType({ description: 'The result of a deletion.' })
export class DeleteAlertSubscriptionPayload {
  @Field(() => ID, { description: 'ID of the deleted alert subscription.' })
  deletedAlertSubscriptionId!: string;
}

@ObjectType()
abstract class AlertEventPayload {
  @Field(() => AlertEvent, { description: 'The alert event with its current delivery status.' })
  alertEvent!: AlertEvent;
}

@ObjectType({ description: 'The test alert being sent.' })
export class SendTestAlertPayload extends AlertEventPayload {}

@ObjectType({ description: 'The alert event being redelivered.' })
export class RedeliverAlertEventPayload extends AlertEventPayload {}

@ObjectType({ description: 'A new signing secret.' })
export class RotateAlertSecretPayload extends outputFields(signingSecretOutput) {}

@ObjectType({ description: 'The low-balance threshold.' })
export class SetLowBalanceAlertPayload extends outputFields(lowBalanceOutput) {}
