import {
  createWidgetInput,
  pageInput,
  updateWidgetInput,
  widgetParams,
  widgetUsageInput,
} from '../services/widgets/widgets.inputs.js';
import { widgetOutput, widgetsOutput, widgetUsageOutput } from '../services/widgets/widgets.outputs.js';
import type { Services } from '../services.js';
import { errorResponses, nothing } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import { reads, writes } from './route-rules.js';

const tags = ['Widgets'];
/** A system prompt of 20,000 characters takes up to 120 kB. */
const BODY = { bodyLimitBytes: 192 * 1024 };

/** The viewer's chat widgets. What visitors ask is answered by the edge (src/gateway/widget.routes.ts). */
export function widgetsRoutes(app: RestApp, services: Services): void {
  manageWidgets(app, services);
  changeWidgets(app, services);
}

function manageWidgets(app: RestApp, { widgets }: Services): void {
  app.route({
    method: 'POST',
    url: '/api/widgets',
    config: writes(BODY),
    schema: {
      operationId: 'createWidget',
      tags,
      summary: 'Create a widget',
      description: 'Creates a chat widget for web pages. At most 50 widgets per account.',
      body: createWidgetInput,
      response: { 201: widgetOutput, ...errorResponses(401, 403, 404, 415, 422) },
    },
    handler: async (request, reply) => {
      reply.status(201);
      return widgets.create(request.context, request.body);
    },
  });

  app.route({
    method: 'GET',
    url: '/api/widgets',
    config: reads(),
    schema: {
      operationId: 'listWidgets',
      tags,
      summary: 'List widgets',
      description: 'Lists your chat widgets, newest first, without deleted ones.',
      querystring: pageInput,
      response: { 200: widgetsOutput, ...errorResponses(401, 422) },
    },
    handler: async (request) => widgets.list(request.context, request.query),
  });

  app.route({
    method: 'GET',
    url: '/api/widgets/:id',
    config: reads(),
    schema: {
      operationId: 'getWidget',
      tags,
      summary: 'Get a widget',
      description: 'Returns a chat widget.',
      params: widgetParams,
      response: { 200: widgetOutput, ...errorResponses(401, 404) },
    },
    handler: async (request) => widgets.get(request.context, request.params),
  });

  app.route({
    method: 'GET',
    url: '/api/widgets/:id/usage',
    config: reads(),
    schema: {
      operationId: 'getWidgetUsage',
      tags,
      summary: 'Get the usage of a widget',
      description: 'Returns messages, tokens, cost, refusals and sites of a widget in a window of UTC days.',
      params: widgetParams,
      querystring: widgetUsageInput,
      response: { 200: widgetUsageOutput, ...errorResponses(401, 404, 422) },
    },
    handler: async (request) =>
      widgets.usage(request.context, { id: request.params.id, window_days: request.query.window_days }),
  });
}

function changeWidgets(app: RestApp, { widgets }: Services): void {
  app.route({
    method: 'PATCH',
    url: '/api/widgets/:id',
    config: writes(BODY),
    schema: {
      operationId: 'updateWidget',
      tags,
      summary: 'Update a widget',
      description:
        'Updates the given fields; send at least one. Pages show the change when they are loaded again.',
      params: widgetParams,
      body: updateWidgetInput,
      response: { 200: widgetOutput, ...errorResponses(401, 403, 404, 409, 415, 422) },
    },
    handler: async (request) => widgets.update(request.context, { ...request.body, id: request.params.id }),
  });

  app.route({
    method: 'DELETE',
    url: '/api/widgets/:id',
    config: writes(),
    schema: {
      operationId: 'deleteWidget',
      tags,
      summary: 'Delete a widget',
      description: 'Deletes a widget. Chats with it are rejected immediately. Its usage stays.',
      params: widgetParams,
      response: { 204: nothing('The widget was deleted.'), ...errorResponses(401, 403, 404, 415) },
    },
    handler: async (request, reply) => {
      await widgets.remove(request.context, request.params);
      reply.status(204);
    },
  });

  app.route({
    method: 'POST',
    url: '/api/widgets/:id/rotate-key',
    config: writes(),
    schema: {
      operationId: 'rotateWidgetKey',
      tags,
      summary: 'Rotate the public key of a widget',
      description:
        'Gives the widget a new public key. The old key stops working immediately: pages need the new one.',
      params: widgetParams,
      response: { 200: widgetOutput, ...errorResponses(401, 403, 404, 415) },
    },
    handler: async (request) => widgets.rotateKey(request.context, request.params),
  });
}
