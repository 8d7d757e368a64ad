import { InputType } from 'type-graphql';
import { z } from 'zod';
import { uuid } from '../../lib/output-fields.js';
import {
  createAlertInput,
  expectedAlertInput,
  expectedLowBalanceInput,
  lowBalanceInput,
  updateAlertInput,
} from '../../services/alerts/alerts.inputs.js';
import { Decimal } from '../scalars.js';
import { inputFields } from '../zod-fields.js';
import { AlertKind } from './alerts.types.js';

const keyId = z.object({ key_id: uuid('API key ID.') });
const alertId = keyId.extend({ id: uuid('Alert subscription ID.') });

@InputType({ description: 'A new alert subscription of an API key.' })
export class CreateAlertSubscriptionInput extends inputFields(keyId.extend(createAlertInput.shape), {
  kind: AlertKind,
}) {}

@InputType({ description: expectedAlertInput.description })
class ExpectedAlertSubscriptionInput extends inputFields(expectedAlertInput) {}

@InputType({ description: 'Changes to an alert subscription. Omitted fields keep their value.' })
export class UpdateAlertSubscriptionInput extends inputFields(alertId.extend(updateAlertInput.shape), {
  expected: ExpectedAlertSubscriptionInput,
}) {}

@InputType({ description: 'The alert subscription to delete.' })
export class DeleteAlertSubscriptionInput extends inputFields(alertId) {}

@InputType({ description: 'The alert subscription to test.' })
export class SendTestAlertInput extends inputFields(alertId) {}

@InputType({ description: 'The webhook subscription that gets a new signing secret.' })
export class RotateAlertSecretInput extends inputFields(alertId) {}

@InputType({ description: 'The alert event to redeliver.' })
export class RedeliverAlertEventInput extends inputFields(z.object({ event_id: uuid('Alert event ID.') })) {}

@InputType({ description: expectedLowBalanceInput.description })
class ExpectedLowBalanceAlertInput extends inputFields(expectedLowBalanceInput, { thresholdUsd: Decimal }) {}

@InputType({ description: 'The low-balance threshold.' })
export class SetLowBalanceAlertInput extends inputFields(lowBalanceInput, {
  thresholdUsd: Decimal,
  expected: ExpectedLowBalanceAlertInput,
}) {}
