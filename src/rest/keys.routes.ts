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
      description:
        'Creates an API key. The response contains the full secret, which is shown only once. At most 100 keys per account.',
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
      summary: 'List API keys',
      description: 'Lists your API keys, newest first, with their spend today and this month.',
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
      summary: 'Get an API key',
      description: 'Returns an API key without its secret.',
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
      summary: 'Update an API key',
      description:
        'Updates the given fields; send at least one. Set a limit or the guard to null to remove it.',
      params: keyParams,
      body: updateKeyInput,
      response: { 200: keyOutput, ...errorResponses(401, 403, 404, 409, 415, 422) },
    },
    handler: async (request) => keys.update(request.context, { ...request.body, id: request.params.id }),
  });

  app.route({
    method: 'POST',
    url: '/api/keys/:id/guard/undo',
    config: writes(),
    schema: {
      operationId: 'undoKeyGuard',
      tags,
      summary: "Undo a key's guard",
      description:
        'Ends what the guard of the key has done: calls are served as before. The guard stays off for the rest of the UTC month, unless it is set again. If it has not acted, nothing changes.',
      params: keyParams,
      response: { 200: keyOutput, ...errorResponses(401, 403, 404, 415) },
    },
    handler: async (request) => keys.undoGuard(request.context, request.params),
  });

  app.route({
    method: 'DELETE',
    url: '/api/keys/:id',
    config: writes(),
    schema: {
      operationId: 'deleteKey',
      tags,
      summary: 'Delete an API key',
      description: 'Deletes an API key and its virtual key. Calls with it are rejected immediately.',
      params: keyParams,
      response: { 204: nothing('The key was deleted.'), ...errorResponses(401, 403, 404, 415) },
    },
    handler: async (request, reply) => {
      await keys.remove(request.context, request.params);
      reply.status(204);
    },
  });
}
