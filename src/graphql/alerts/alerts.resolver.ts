import { z } from 'zod';
import { uuid } from '../../lib/output-fields.js';
import { idOrText } from '../../lib/uuid.js';
import {
  createAlertInput,
  expectedAlertInput,
  expectedLowBalanceInput,
  lowBalanceInput,
  timeConnectionInput,
  updateAlertInput,
} from '../../services/alerts/alerts.inputs.js';
import {
  alertEventOutput,
  alertOutput,
  createdAlertOutput,
  lowBalanceOutput,
  signingSecretOutput,
} from '../../services/alerts/alerts.outputs.js';
import { Viewer } from '../accounts/accounts.types.js';
import { camelCased, toGraphql, toGraphqlAs } from '../case.js';
import { connectionArgs, connectionOf, pageCost, toConnection } from '../connections.js';
import { enumOf } from '../enum-of.js';
import { field, mutation, subscription } from '../fields.js';
import { checked } from '../input.js';
import { ApiKey, ApiKeyGuardAction } from '../keys/keys.types.js';
import { Decimal } from '../scalars.js';
import { descriptionOf, inputType, objectType } from '../zod-fields.js';

const AlertKind = enumOf('AlertKind', 'Delivery channel.', alertOutput.shape.kind, {
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

const AlertSubscription = objectType('AlertSubscription', alertOutput, { kind: AlertKind });
const AlertEvent = objectType('AlertEvent', alertEventOutput, {
  kind: AlertKind,
  guardAction: ApiKeyGuardAction,
});
const AlertEventConnection = connectionOf(AlertEvent, 'alert events');

const keyId = z.object({ key_id: uuid('API key ID.') });
const alertId = keyId.extend({ id: uuid('Alert subscription ID.') });
const eventPayload = z.object({
  alert_event: alertEventOutput.describe('The alert event with its current delivery status.'),
});

/** Cost of a key's subscriptions, of which there are at most ten. */
const alertsCost = ({ childComplexity }: { childComplexity: number }): number => 1 + 10 * childComplexity;

const alertMutations = [
  mutation('createAlertSubscription', 'session', {
    description:
      'Creates an alert subscription for an API key. For a webhook, the response contains the signing secret, which is shown only once. At most 10 subscriptions per key.',
    input: keyId.extend(createAlertInput.shape).describe('A new alert subscription of an API key.'),
    inputTypes: { kind: AlertKind },
    argument: 'The subscription.',
    payload: z
      .object({
        alert_subscription: alertOutput.describe('The subscription.'),
        signing_secret: createdAlertOutput.shape.signing_secret,
      })
      .describe(createdAlertOutput.description ?? ''),
    run: async ({ services, service }, { keyId, ...input }) => {
      const { signing_secret: signingSecret, ...alert } = await services.alerts.create(service, {
        ...checked(createAlertInput, input),
        keyId,
      });
      return { alertSubscription: camelCased(alert), signingSecret };
    },
  }),
  mutation('updateAlertSubscription', 'session', {
    description: "Updates an alert subscription. Alerts that have already fired this month don't fire again.",
    input: alertId
      .extend(updateAlertInput.shape)
      .describe('Changes to an alert subscription. Omitted fields keep their value.'),
    inputTypes: { expected: inputType('ExpectedAlertSubscriptionInput', expectedAlertInput) },
    argument: 'Subscription and changes.',
    payload: z
      .object({ alert_subscription: alertOutput.describe('The updated alert subscription.') })
      .describe('The updated alert subscription.'),
    run: async ({ services, service }, { keyId, id, ...input }) => {
      const change = { ...checked(updateAlertInput, input), keyId, alertId: id };
      return toGraphqlAs('alertSubscription', services.alerts.update(service, change));
    },
  }),
  mutation('deleteAlertSubscription', 'session', {
    description: 'Deletes an alert subscription. Its events are kept.',
    input: alertId.describe('The alert subscription to delete.'),
    argument: 'The subscription.',
    payload: z
      .object({ deleted_alert_subscription_id: uuid('ID of the deleted alert subscription.') })
      .describe('The result of a deletion.'),
    run: async ({ services, service }, { keyId, id }) => {
      await services.alerts.remove(service, { keyId, alertId: id });
      return { deletedAlertSubscriptionId: idOrText(id) };
    },
  }),
  mutation('sendTestAlert', 'session', {
    description:
      'Sends a test alert to the destination. At most 5 tests and redeliveries per minute, and 10 per day by email.',
    input: alertId.describe('The alert subscription to test.'),
    argument: 'The subscription.',
    payload: eventPayload.describe('The test alert being sent.'),
    run: ({ services, service }, { keyId, id }) =>
      toGraphqlAs('alertEvent', services.alerts.sendTest(service, { keyId, alertId: id })),
  }),
  mutation('redeliverAlertEvent', 'session', {
    description:
      'Redelivers an alert event to the current destination of its subscription, with the same ID and up to three new attempts. A pending event is left unchanged.',
    input: z.object({ event_id: uuid('Alert event ID.') }).describe('The alert event to redeliver.'),
    argument: 'The event.',
    payload: eventPayload.describe('The alert event being redelivered.'),
    run: ({ services, service }, { eventId }) =>
      toGraphqlAs('alertEvent', services.alerts.redeliver(service, { eventId })),
  }),
  mutation('rotateAlertSecret', 'session', {
    description:
      'Rotates the signing secret of a webhook. Until the next rotation, deliveries are also signed with the previous secret.',
    input: alertId.describe('The webhook subscription that gets a new signing secret.'),
    argument: 'The subscription.',
    payload: signingSecretOutput.describe('A new signing secret.'),
    run: ({ services, service }, { keyId, id }) =>
      toGraphql(services.alerts.rotateSecret(service, { keyId, alertId: id })),
  }),
  mutation('setLowBalanceAlert', 'session', {
    description:
      'Sets the low-balance threshold. One email is sent when the balance falls below it, and another only after the balance has recovered. Null turns the alert off.',
    input: lowBalanceInput.describe('The low-balance threshold.'),
    inputTypes: {
      thresholdUsd: Decimal,
      expected: inputType('ExpectedLowBalanceAlertInput', expectedLowBalanceInput, { thresholdUsd: Decimal }),
    },
    argument: 'The new threshold.',
    payload: lowBalanceOutput.describe('The low-balance threshold.'),
    run: ({ services, service }, input) =>
      toGraphql(services.alerts.setLowBalance(service, checked(lowBalanceInput, input))),
  }),
];

/** Alerts of the signed-in account and of its keys. */
export const alertsResolvers = [
  ...alertMutations,
  field(Viewer, 'alertEvents', AlertEventConnection, {
    description: 'Alert events and tests for all API keys, including deleted ones, and for the balance.',
    complexity: pageCost,
    args: connectionArgs,
    run: ({ services, service }, args) =>
      toConnection(services.alerts.eventsPage(service, checked(timeConnectionInput, args)), args),
  }),
  field(Viewer, 'lowBalanceThresholdUsd', Decimal, {
    nullable: true,
    description: descriptionOf(lowBalanceOutput.shape.threshold_usd),
    run: async ({ services, service }) => (await services.alerts.lowBalance(service)).threshold_usd,
  }),
  field(ApiKey, 'alerts', [AlertSubscription], {
    description: 'Alert subscriptions of the key, newest first.',
    complexity: alertsCost,
    run: ({ loaders }, _args, { id }) => loaders.alertsOfKeys.load(id),
  }),
  field(ApiKey, 'alertEvents', AlertEventConnection, {
    description: 'Alert events and tests of the key.',
    complexity: pageCost,
    args: connectionArgs,
    run: async ({ loaders }, args, { id }) => {
      const page = checked(timeConnectionInput, args);
      return toConnection(loaders.alertEventsOfKeys.load({ id, window: page }), args);
    },
  }),
  field(AlertEvent, 'apiKey', ApiKey, {
    nullable: true,
    description: 'The API key, or null if it was deleted.',
    run: async ({ loaders }, _args, { keyId }) => (keyId === null ? null : loaders.keys.load(keyId)),
  }),
  subscription('alertFired', 'session', AlertEvent, {
    description:
      'New alerts of the account as they fire, one per destination, exactly once and before delivery. Tests are not included. Requires a session.',
    subscribe: ({ services, service }) => services.alertFeed.alertFired(service),
  }),
];
