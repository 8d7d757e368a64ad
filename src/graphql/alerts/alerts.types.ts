import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import {
  type AlertEventOutput,
  type AlertOutput,
  alertEventOutput,
  alertOutput,
  createdAlertOutput,
} from '../../services/alerts/alerts.outputs.js';
import type { Camel } from '../case.js';
import { connectionOf, pageOf } from '../connections.js';
import { fieldDocs } from '../docs.js';
import { DateTime, Decimal } from '../scalars.js';

export const AlertKind = { EMAIL: 'email', WEBHOOK: 'webhook' } as const;
registerEnumType(AlertKind, {
  name: 'AlertKind',
  description: 'How somebody is told.',
  valuesConfig: {
    EMAIL: { description: 'By mail.' },
    WEBHOOK: { description: 'By a signed POST to a URL.' },
  },
});

export const AlertPurpose = { THRESHOLD: 'threshold', TEST: 'test', LOW_BALANCE: 'low_balance' } as const;
registerEnumType(AlertPurpose, {
  name: 'AlertPurpose',
  description: 'Why somebody is told.',
  valuesConfig: {
    THRESHOLD: { description: 'The key has spent a percentage of its monthly limit.' },
    TEST: { description: 'The owner asked for a test.' },
    LOW_BALANCE: { description: 'The balance of the account fell below its threshold.' },
  },
});

export const AlertDeliveryStatus = {
  PENDING: 'pending',
  SENT: 'sent',
  FAILED: 'failed',
  DEGRADED: 'degraded',
} as const;
registerEnumType(AlertDeliveryStatus, {
  name: 'AlertDeliveryStatus',
  description: 'How a delivery stands.',
  valuesConfig: {
    PENDING: { description: 'It is on its way.' },
    SENT: { description: 'It arrived.' },
    FAILED: { description: 'It was refused, or nobody answered.' },
    DEGRADED: { description: 'It is recorded and was not mailed, for the reason that is given.' },
  },
});

const doc = fieldDocs(alertOutput);

@ObjectType({ description: alertOutput.description })
export class AlertSubscription implements Camel<AlertOutput> {
  @Field(() => ID, { description: doc.id })
  id!: string;

  @Field(() => ID, { description: doc.keyId })
  keyId!: string;

  @Field(() => AlertKind, { description: doc.kind })
  kind!: 'email' | 'webhook';

  @Field({ description: doc.destination })
  destination!: string;

  @Field(() => [Int], { description: doc.thresholdsPct })
  thresholdsPct!: number[];

  @Field({ description: doc.active })
  active!: boolean;

  @Field(() => String, { nullable: true, description: doc.disabledReason })
  disabledReason!: string | null;

  @Field(() => DateTime, { description: doc.createdAt })
  createdAt!: string;

  @Field(() => DateTime, { description: doc.updatedAt })
  updatedAt!: string;
}

const eventDoc = fieldDocs(alertEventOutput);

@ObjectType({ description: alertEventOutput.description })
export class AlertEvent implements Camel<AlertEventOutput> {
  @Field(() => ID, { description: eventDoc.id })
  id!: string;

  @Field(() => AlertPurpose, { description: eventDoc.purpose })
  purpose!: 'threshold' | 'test' | 'low_balance';

  @Field(() => ID, { nullable: true, description: eventDoc.keyId })
  keyId!: string | null;

  @Field(() => String, { nullable: true, description: eventDoc.keyName })
  keyName!: string | null;

  @Field(() => ID, { nullable: true, description: eventDoc.subscriptionId })
  subscriptionId!: string | null;

  @Field(() => AlertKind, { description: eventDoc.kind })
  kind!: 'email' | 'webhook';

  @Field({ description: eventDoc.destination })
  destination!: string;

  @Field(() => Int, { nullable: true, description: eventDoc.thresholdPct })
  thresholdPct!: number | null;

  @Field(() => String, { nullable: true, description: eventDoc.billingMonth })
  billingMonth!: string | null;

  @Field(() => Decimal, { nullable: true, description: eventDoc.mtdSpendUsd })
  mtdSpendUsd!: string | null;

  @Field(() => Decimal, { nullable: true, description: eventDoc.monthlyLimitUsd })
  monthlyLimitUsd!: string | null;

  @Field(() => Decimal, { nullable: true, description: eventDoc.balanceUsd })
  balanceUsd!: string | null;

  @Field(() => DateTime, { description: eventDoc.firedAt })
  firedAt!: string;

  @Field(() => AlertDeliveryStatus, { description: eventDoc.deliveryStatus })
  deliveryStatus!: 'pending' | 'sent' | 'failed' | 'degraded';

  @Field(() => Int, { description: eventDoc.attempts })
  attempts!: number;

  @Field(() => Int, { nullable: true, description: eventDoc.responseCode })
  responseCode!: number | null;

  @Field(() => String, { nullable: true, description: eventDoc.errorMessage })
  errorMessage!: string | null;

  @Field(() => DateTime, { nullable: true, description: eventDoc.finishedAt })
  finishedAt!: string | null;
}

@ObjectType({ description: pageOf('alert events') })
export class AlertEventConnection extends connectionOf(AlertEvent, 'alert events') {}

const SECRET = fieldDocs(createdAlertOutput).signingSecret;

@ObjectType({ description: createdAlertOutput.description })
export class CreateAlertSubscriptionPayload {
  @Field(() => AlertSubscription, { description: 'The subscription.' })
  alertSubscription!: AlertSubscription;

  @Field(() => String, { nullable: true, description: SECRET })
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
export class RotateAlertSecretPayload {
  @Field({ description: SECRET })
  signingSecret!: string;
}

@ObjectType({ description: 'When a low balance is told.' })
export class SetLowBalanceAlertPayload {
  @Field(() => Decimal, {
    nullable: true,
    description: 'Dollars below which a mail comes; null: none comes.',
  })
  thresholdUsd!: string | null;
}
