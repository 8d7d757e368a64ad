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

/** Who is told of a key's spend, and what they were told. */
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
      summary: 'Subscribe to alerts of a key',
      description:
        'Told when the key has spent certain percentages of its monthly limit. The signing secret of a webhook is in this answer and can not be shown again. At most 10 subscriptions per key.',
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
      summary: 'List the alert subscriptions of a key',
      description: 'Newest first, at most 10.',
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
      summary: 'Change an alert subscription',
      description:
        'Changes what the body names, at least one field. The kind stays. What has fired this month is not told again.',
      params: alertParams,
      body: updateAlertInput,
      response: { 200: alertOutput, ...errorResponses(401, 403, 404, 415, 422) },
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
      description: 'Its events stay on record.',
      params: alertParams,
      response: { 204: nothing('The subscription is deleted.'), ...errorResponses(401, 403, 404, 415) },
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
        'Delivers a test to the destination, of the form of a real alert. At most 5 tests and repetitions per minute, 10 per day by mail.',
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
      summary: 'Change the signing secret',
      description:
        'The new secret is in this answer and can not be shown again. Deliveries carry a signature by the one before as well until the next change.',
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
      summary: 'List the alert events of a key',
      description: 'What fired and was tested, with its delivery. Newest first.',
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
      summary: 'List all my alert events',
      description: 'Of all keys, deleted ones included, and of the balance. Newest first.',
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
      summary: 'Deliver an alert event once more',
      description:
        'The same id, up to three new attempts, to where the subscription leads now. One that is pending stays as it is. At most 5 tests and repetitions per minute, 10 per day by mail.',
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
      summary: 'Show when a low balance is told',
      description: 'By mail to the address of the account.',
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
      summary: 'Set when a low balance is told',
      description:
        'A mail comes when the balance falls below, once until a credit lifts it again. Null: none comes.',
      body: lowBalanceInput,
      response: { 200: lowBalanceOutput, ...errorResponses(401, 403, 415, 422) },
    },
    handler: async (request) => alerts.setLowBalance(request.context, request.body),
  });
}
