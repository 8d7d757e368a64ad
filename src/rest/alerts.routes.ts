import {
  alertEventParams,
  alertKeyParams,
  alertParams,
  createAlertInput,
  lowBalanceInput,
  pageInput,
  updateAlertInput,
} from '../services/alerts/alerts.inputs.js';
import {
  alertEventOutput,
  alertEventsOutput,
  alertOutput,
  alertsOutput,
  createdAlertOutput,
  lowBalanceOutput,
  signingSecretOutput,
} from '../services/alerts/alerts.outputs.js';
import { restRoutes } from './operations.js';
import { reads, writes } from './route-rules.js';

const ALERTS = '/api/keys/:id/alerts';

export const alertsRoutes = restRoutes('Alerts', (route, { alerts }) => {
  route(`POST ${ALERTS}`, writes(), {
    operationId: 'createAlert',
    summary: 'Create an alert subscription',
    description:
      "Sends an alert when the key's spend reaches given percentages of its monthly limit. For a webhook, the response contains the signing secret, which is shown only once. At most 10 subscriptions per key.",
    params: alertKeyParams,
    body: createAlertInput,
    returns: { 201: createdAlertOutput },
    run: ({ context, params, body }) => alerts.create(context, { ...body, keyId: params.id }),
  });

  route(`GET ${ALERTS}`, reads(), {
    operationId: 'listAlerts',
    summary: 'List alert subscriptions',
    description: 'Lists the alert subscriptions of a key, newest first. There are at most 10.',
    params: alertKeyParams,
    query: pageInput,
    returns: { 200: alertsOutput },
    run: ({ context, params, query }) => alerts.list(context, { ...query, keyId: params.id }),
  });

  route(`PATCH ${ALERTS}/:alert_id`, writes(), {
    operationId: 'updateAlert',
    summary: 'Update an alert subscription',
    description:
      "Updates the given fields; send at least one. The kind can't be changed. Alerts that have already fired this month don't fire again.",
    params: alertParams,
    body: updateAlertInput,
    returns: { 200: alertOutput },
    errors: [409],
    run: ({ context, params, body }) =>
      alerts.update(context, { ...body, keyId: params.id, alertId: params.alert_id }),
  });

  route(`DELETE ${ALERTS}/:alert_id`, writes(), {
    operationId: 'deleteAlert',
    summary: 'Delete an alert subscription',
    description: 'The events of the subscription are kept.',
    params: alertParams,
    returns: { 204: 'The subscription was deleted.' },
    run: ({ context, params }) => alerts.remove(context, { keyId: params.id, alertId: params.alert_id }),
  });

  route(`POST ${ALERTS}/:alert_id/test`, writes(), {
    operationId: 'sendTestAlert',
    summary: 'Send a test',
    description:
      'Sends a test alert to the destination, in the same format as a real one. At most 5 tests and redeliveries per minute, and 10 per day by email.',
    params: alertParams,
    returns: { 201: alertEventOutput },
    run: ({ context, params }) => alerts.sendTest(context, { keyId: params.id, alertId: params.alert_id }),
  });

  route(`POST ${ALERTS}/:alert_id/rotate-secret`, writes(), {
    operationId: 'rotateAlertSecret',
    summary: 'Rotate the signing secret',
    description:
      'Returns a new signing secret, which is shown only once. Until the next rotation, deliveries are also signed with the previous secret.',
    params: alertParams,
    returns: { 200: signingSecretOutput },
    run: ({ context, params }) =>
      alerts.rotateSecret(context, { keyId: params.id, alertId: params.alert_id }),
  });

  route('GET /api/keys/:id/alert-events', reads(), {
    operationId: 'listKeyAlertEvents',
    summary: 'List alert events of a key',
    description: 'Lists alerts and tests of a key with their delivery status, newest first.',
    params: alertKeyParams,
    query: pageInput,
    returns: { 200: alertEventsOutput },
    run: ({ context, params, query }) => alerts.events(context, { ...query, keyId: params.id }),
  });

  route('GET /api/alert-events', reads(), {
    operationId: 'listAlertEvents',
    summary: 'List all alert events',
    description:
      'Lists alerts and tests for all API keys, including deleted ones, and for the balance, newest first.',
    query: pageInput,
    returns: { 200: alertEventsOutput },
    run: ({ context, query }) => alerts.allEvents(context, query),
  });

  route('POST /api/alert-events/:id/redeliver', writes(), {
    operationId: 'redeliverAlertEvent',
    summary: 'Redeliver an alert event',
    description:
      'Sends the event to the current destination of its subscription, with the same ID and up to three new attempts. A pending event is left unchanged. At most 5 tests and redeliveries per minute, and 10 per day by email.',
    params: alertEventParams,
    returns: { 200: alertEventOutput },
    run: ({ context, params }) => alerts.redeliver(context, { eventId: params.id }),
  });

  route('GET /api/billing/low-balance-alert', reads(), {
    operationId: 'getLowBalanceAlert',
    summary: 'Get the low-balance alert',
    description:
      "Returns the threshold of the low-balance alert, which is sent to the account's email address.",
    returns: { 200: lowBalanceOutput },
    run: ({ context }) => alerts.lowBalance(context),
  });

  route('PUT /api/billing/low-balance-alert', writes(), {
    operationId: 'setLowBalanceAlert',
    summary: 'Set the low-balance alert',
    description:
      'Sets the low-balance threshold. One email is sent when the balance falls below it, and another only after the balance has recovered. Null turns the alert off.',
    body: lowBalanceInput,
    returns: { 200: lowBalanceOutput },
    errors: [409],
    run: ({ context, body }) => alerts.setLowBalance(context, body),
  });
});
