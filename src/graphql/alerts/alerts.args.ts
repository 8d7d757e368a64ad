import { InputType } from 'type-graphql';
import { z } from 'zod';
import { uuid } from '../../lib/output-fields.js';
import { createAlertInput, lowBalanceInput, updateAlertInput } from '../../services/alerts/alerts.inputs.js';
import { Decimal } from '../scalars.js';
import { inputFields } from '../zod-fields.js';
import { AlertKind } from './alerts.types.js';

const keyId = z.object({ key_id: uuid('Id of the key.') });
const alertId = keyId.extend({ id: uuid('Id of the subscription.') });

@InputType({ description: 'A new alert subscription of an API key.' })
export class CreateAlertSubscriptionInput extends inputFields(keyId.extend(createAlertInput.shape), {
  kind: AlertKind,
}) {}

@InputType({ description: 'What changes of a subscription. What is left out stays.' })
export class UpdateAlertSubscriptionInput extends inputFields(alertId.extend(updateAlertInput.shape)) {}

@InputType({ description: 'A subscription that is to go.' })
export class DeleteAlertSubscriptionInput extends inputFields(alertId) {}

@InputType({ description: 'A subscription that is to be tested.' })
export class SendTestAlertInput extends inputFields(alertId) {}

@InputType({ description: 'A webhook that is to get a new secret.' })
export class RotateAlertSecretInput extends inputFields(alertId) {}

@InputType({ description: 'An event that is to be delivered once more.' })
export class RedeliverAlertEventInput extends inputFields(z.object({ event_id: uuid('Id of the event.') })) {}

@InputType({ description: 'When a low balance is to be told.' })
export class SetLowBalanceAlertInput extends inputFields(lowBalanceInput, { thresholdUsd: Decimal }) {}
