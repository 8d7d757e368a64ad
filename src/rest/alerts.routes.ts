import {
  alertEventParams,
  alertParams,
  createAlertInput,
  keyParams,
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
import type { Services } from '../services.js';
import { errorResponses, nothing } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import { reads, writes } from './route-rules.js';

const tags = ['Alerts'];
const ALERTS = '/api/keys/:id/alerts';

/** Alert subscriptions and alert events. */
export function alertsRoutes(app: RestApp, services: Services): void {
  subscriptionRoutes(app, services);
  eventRoutes(app, services);
  lowBalanceRoutes(app, services);
}

function subscriptionRoutes(app: RestApp, { alerts }: Services): void {
  app.route({
    method: 'POST',
    url: ALERTS,
    config: writes(),
    schema: {
      operationId: 'createAlert',
      tags,
      summary: 'Create an alert subscription',
      description:
        "Sends an alert when the key's spend reaches given percentages of its monthly limit. For a webhook, the response contains the signing secret, which is shown only once. At most 10 subscriptions per key.",
      params: keyParams,
      body: createAlertInput,
      response: { 201: createdAlertOutput, ...errorResponses(401, 403, 404, 415, 422) },
    },
    handler: async (request, reply) => {
      reply.status(201);
      return alerts.create(request.context, { ...request.body, keyId: request.params.id });
    },
  });

  app.route({
    method: 'GET',
    url: ALERTS,
    config: reads(),
    schema: {
      operationId: 'listAlerts',
      tags,
      summary: 'List alert subscriptions',
      description: 'Lists the alert subscriptions of a key, newest first. There are at most 10.',
      params: keyParams,
      response: { 200: alertsOutput, ...errorResponses(401, 404) },
    },
    handler: async (request) => alerts.list(request.context, { keyId: request.params.id }),
  });

  app.route({
    method: 'PATCH',
    url: `${ALERTS}/:alert_id`,
    config: writes(),
    schema: {
      operationId: 'updateAlert',
      tags,
      summary: 'Update an alert subscription',
      description:
        "Updates the given fields; send at least one. The kind can't be changed. Alerts that have already fired this month don't fire again.",
      params: alertParams,
      body: updateAlertInput,
      response: { 200: alertOutput, ...errorResponses(401, 403, 404, 409, 415, 422) },
    },
    handler: async ({ context, params, body }) =>
      alerts.update(context, { ...body, keyId: params.id, alertId: params.alert_id }),
  });

  app.route({
    method: 'DELETE',
    url: `${ALERTS}/:alert_id`,
    config: writes(),
    schema: {
      operationId: 'deleteAlert',
      tags,
      summary: 'Delete an alert subscription',
      description: 'The events of the subscription are kept.',
      params: alertParams,
      response: { 204: nothing('The subscription was deleted.'), ...errorResponses(401, 403, 404, 415) },
    },
    handler: async ({ context, params }, reply) => {
      await alerts.remove(context, { keyId: params.id, alertId: params.alert_id });
      reply.status(204);
    },
  });

  app.route({
    method: 'POST',
    url: `${ALERTS}/:alert_id/test`,
    config: writes(),
    schema: {
      operationId: 'sendTestAlert',
      tags,
      summary: 'Send a test',
      description:
        'Sends a test alert to the destination, in the same format as a real one. At most 5 tests and redeliveries per minute, and 10 per day by email.',
      params: alertParams,
      response: { 201: alertEventOutput, ...errorResponses(401, 403, 404, 415) },
    },
    handler: async ({ context, params }, reply) => {
      reply.status(201);
      return alerts.sendTest(context, { keyId: params.id, alertId: params.alert_id });
    },
  });

  app.route({
    method: 'POST',
    url: `${ALERTS}/:alert_id/rotate-secret`,
    config: writes(),
    schema: {
      operationId: 'rotateAlertSecret',
      tags,
      summary: 'Rotate the signing secret',
      description:
        'Returns a new signing secret, which is shown only once. Until the next rotation, deliveries are also signed with the previous secret.',
      params: alertParams,
      response: { 200: signingSecretOutput, ...errorResponses(401, 403, 404, 415, 422) },
    },
    handler: async ({ context, params }) =>
      alerts.rotateSecret(context, { keyId: params.id, alertId: params.alert_id }),
  });
}

function eventRoutes(app: RestApp, { alerts }: Services): void {
  app.route({
    method: 'GET',
    url: '/api/keys/:id/alert-events',
    config: reads(),
    schema: {
      operationId: 'listKeyAlertEvents',
      tags,
      summary: 'List alert events of a key',
      description: 'Lists alerts and tests of a key with their delivery status, newest first.',
      params: keyParams,
      querystring: pageInput,
      response: { 200: alertEventsOutput, ...errorResponses(401, 404, 422) },
    },
    handler: async ({ context, params, query }) => alerts.events(context, { ...query, keyId: params.id }),
  });

  app.route({
    method: 'GET',
    url: '/api/alert-events',
    config: reads(),
    schema: {
      operationId: 'listAlertEvents',
      tags,
      summary: 'List all alert events',
      description:
        'Lists alerts and tests for all API keys, including deleted ones, and for the balance, newest first.',
      querystring: pageInput,
      response: { 200: alertEventsOutput, ...errorResponses(401, 422) },
    },
    handler: async ({ context, query }) => alerts.allEvents(context, query),
  });

  app.route({
    method: 'POST',
    url: '/api/alert-events/:id/redeliver',
    config: writes(),
    schema: {
      operationId: 'redeliverAlertEvent',
      tags,
      summary: 'Redeliver an alert event',
      description:
        'Sends the event to the current destination of its subscription, with the same ID and up to three new attempts. A pending event is left unchanged. At most 5 tests and redeliveries per minute, and 10 per day by email.',
      params: alertEventParams,
      response: { 200: alertEventOutput, ...errorResponses(401, 403, 404, 415, 422) },
    },
    handler: async ({ context, params }) => alerts.redeliver(context, { eventId: params.id }),
  });
}

function lowBalanceRoutes(app: RestApp, { alerts }: Services): void {
  app.route({
    method: 'GET',
    url: '/api/billing/low-balance-alert',
    config: reads(),
    schema: {
      operationId: 'getLowBalanceAlert',
      tags,
      summary: 'Get the low-balance alert',
      description:
        "Returns the threshold of the low-balance alert, which is sent to the account's email address.",
      response: { 200: lowBalanceOutput, ...errorResponses(401) },
    },
    handler: async (request) => alerts.lowBalance(request.context),
  });

  app.route({
    method: 'PUT',
    url: '/api/billing/low-balance-alert',
    config: writes(),
    schema: {
      operationId: 'setLowBalanceAlert',
      tags,
      summary: 'Set the low-balance alert',
      description:
        'Sets the low-balance threshold. One email is sent when the balance falls below it, and another only after the balance has recovered. Null turns the alert off.',
      body: lowBalanceInput,
      response: { 200: lowBalanceOutput, ...errorResponses(401, 403, 409, 415, 422) },
    },
    handler: async (request) => alerts.setLowBalance(request.context, request.body),
  });
}
