import { createKeyInput, keyParams, pageInput, updateKeyInput } from '../services/keys/keys.inputs.js';
import { createdKeyOutput, keyOutput, keysOutput } from '../services/keys/keys.outputs.js';
import type { Services } from '../services.js';
import { errorResponses, nothing } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import { reads, writes } from './route-rules.js';

const tags = ['Keys'];

/** The viewer's API keys. */
export function keysRoutes(app: RestApp, services: Services): void {
  const { keys } = services;

  app.route({
    method: 'POST',
    url: '/api/keys',
    config: writes(),
    schema: {
      operationId: 'createKey',
      tags,
      summary: 'Create an API key',
      description: 'The secret is in this answer and can not be shown again. At most 100 keys per account.',
      body: createKeyInput,
      response: { 201: createdKeyOutput, ...errorResponses(401, 403, 415, 422) },
    },
    handler: async (request, reply) => {
      reply.status(201);
      return keys.create(request.context, request.body);
    },
  });

  app.route({
    method: 'GET',
    url: '/api/keys',
    config: reads(),
    schema: {
      operationId: 'listKeys',
      tags,
      summary: 'List my API keys',
      description: 'Newest first, each with its spend of today and this month.',
      querystring: pageInput,
      response: { 200: keysOutput, ...errorResponses(401, 422) },
    },
    handler: async (request) => keys.list(request.context, request.query),
  });

  app.route({
    method: 'GET',
    url: '/api/keys/:id',
    config: reads(),
    schema: {
      operationId: 'getKey',
      tags,
      summary: 'Show an API key',
      description: 'Everything about a key but its secret.',
      params: keyParams,
      response: { 200: keyOutput, ...errorResponses(401, 404) },
    },
    handler: async (request) => keys.get(request.context, request.params),
  });

  app.route({
    method: 'PATCH',
    url: '/api/keys/:id',
    config: writes(),
    schema: {
      operationId: 'updateKey',
      tags,
      summary: 'Change an API key',
      description: 'Changes what the body names, at least one field. A limit of null is cleared.',
      params: keyParams,
      body: updateKeyInput,
      response: { 200: keyOutput, ...errorResponses(401, 403, 404, 415, 422) },
    },
    handler: async (request) => keys.update(request.context, { ...request.body, id: request.params.id }),
  });

  app.route({
    method: 'DELETE',
    url: '/api/keys/:id',
    config: writes(),
    schema: {
      operationId: 'deleteKey',
      tags,
      summary: 'Delete an API key',
      description: 'Calls with it are refused at once, and its virtual key at the model proxy is removed.',
      params: keyParams,
      response: { 204: nothing('The key is deleted.'), ...errorResponses(401, 403, 404, 415) },
    },
    handler: async (request, reply) => {
      await keys.remove(request.context, request.params);
      reply.status(204);
    },
  });
}
