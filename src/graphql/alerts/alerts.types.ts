import { alertEventOutput, alertOutput } from '../../services/alerts/alerts.outputs.js';
import { connectionOf } from '../connections.js';
import { enumOf } from '../enum-of.js';
import { ApiKeyGuardAction } from '../keys/keys.types.js';
import { objectType } from '../zod-fields.js';

export const AlertKind = enumOf('AlertKind', 'Delivery channel.', alertOutput.shape.kind, {
  email: 'Email.',
  webhook: 'A signed POST request to a URL.',
});

enumOf('AlertPurpose', 'Reason for an alert.', alertEventOutput.shape.purpose, {
  threshold: 'The key reached a percentage of its monthly limit.',
  test: 'The owner requested a test.',
  low_balance: 'The account balance fell below the low-balance threshold.',
  guard: 'The guard of the key acted.',
});

enumOf('AlertDeliveryStatus', 'Delivery status.', alertEventOutput.shape.delivery_status, {
  pending: 'Delivery is in progress.',
  sent: 'Delivered.',
  failed: "The receiver rejected the delivery or didn't respond.",
  degraded: 'Recorded but not emailed; the error message gives the reason.',
});

export const AlertSubscription = objectType('AlertSubscription', alertOutput, { kind: AlertKind });
export const AlertEvent = objectType('AlertEvent', alertEventOutput, {
  kind: AlertKind,
  guardAction: ApiKeyGuardAction,
});
export const AlertEventConnection = connectionOf(AlertEvent, 'alert events');
