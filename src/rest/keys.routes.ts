import {
  createKeyInput,
  keyParams,
  pageInput,
  undoGuardInput,
  updateKeyInput,
} from '../services/keys/keys.inputs.js';
import { createdKeyOutput, keyOutput, keysOutput } from '../services/keys/keys.outputs.js';
import { restRoutes } from './operations.js';
import { reads, writes } from './route-rules.js';

export const keysRoutes = restRoutes('Keys', (route, { keys }) => {
  route('POST /api/keys', writes(), {
    operationId: 'createKey',
    summary: 'Create an API key',
    description:
      'Creates an API key. The response contains the full secret, which is shown only once. At most 100 keys per account.',
    body: createKeyInput,
    returns: { 201: createdKeyOutput },
    run: ({ context, body }) => keys.create(context, body),
  });

  route('GET /api/keys', reads(), {
    operationId: 'listKeys',
    summary: 'List API keys',
    description: 'Lists your API keys, newest first, with their spend today and this month.',
    query: pageInput,
    returns: { 200: keysOutput },
    run: ({ context, query }) => keys.list(context, query),
  });

  route('GET /api/keys/:id', reads(), {
    operationId: 'getKey',
    summary: 'Get an API key',
    description: 'Returns an API key without its secret.',
    params: keyParams,
    returns: { 200: keyOutput },
    run: ({ context, params }) => keys.get(context, params),
  });

  route('PATCH /api/keys/:id', writes(), {
    operationId: 'updateKey',
    summary: 'Update an API key',
    description:
      'Updates the given fields; send at least one. Set a limit or the guard to null to remove it.',
    params: keyParams,
    body: updateKeyInput,
    returns: { 200: keyOutput },
    errors: [409, 'model_not_allowed'],
    run: ({ context, params, body }) => keys.update(context, { ...body, id: params.id }),
  });

  route('POST /api/keys/:id/guard/undo', writes(), {
    operationId: 'undoKeyGuard',
    summary: "Undo a key's guard",
    description:
      "Undoes the action of the key's guard: calls are served as before. The guard stays off for the rest of the UTC month, unless it is set again. If it has not acted, nothing changes.",
    params: keyParams,
    body: undoGuardInput,
    returns: { 200: keyOutput },
    errors: [409],
    run: ({ context, params, body }) => keys.undoGuard(context, { ...body, id: params.id }),
  });

  route('DELETE /api/keys/:id', writes(), {
    operationId: 'deleteKey',
    summary: 'Delete an API key',
    description: 'Deletes an API key and its virtual key. Calls with it are rejected immediately.',
    params: keyParams,
    returns: { 204: 'The key was deleted.' },
    run: ({ context, params }) => keys.remove(context, params),
  });
});
