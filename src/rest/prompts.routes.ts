import { pageInput } from '../lib/page-input.js';
import {
  addPromptVersionInput,
  createPromptInput,
  diffPromptInput,
  listPromptsInput,
  movePromptInput,
  promptParams,
  promptVersionParams,
  renderPromptInput,
  updatePromptInput,
} from '../services/prompts/prompts.inputs.js';
import {
  promptActivationsOutput,
  promptDetailOutput,
  promptDiffOutput,
  promptOutput,
  promptsOutput,
  promptVersionOutput,
  renderedPromptOutput,
} from '../services/prompts/prompts.outputs.js';
import type { Services } from '../services.js';
import { errorResponses, nothing } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import { reads, writes } from './route-rules.js';

const tags = ['Prompts'];
/** 50,000 characters are at most 150 kB; the edge forwards nothing larger. */
const BODY = { bodyLimitBytes: 256 * 1024 };

/** The viewer's prompts. */
export function promptsRoutes(app: RestApp, services: Services): void {
  savedPrompts(app, services);
  versionsOfPrompts(app, services);
  activeVersions(app, services);
}

function savedPrompts(app: RestApp, { prompts }: Services): void {
  app.route({
    method: 'GET',
    url: '/api/prompts',
    config: reads({ rate: 'heavy' }),
    schema: {
      operationId: 'listPrompts',
      tags,
      summary: 'List my prompts',
      description: 'Returns prompts, newest first, each with its active version.',
      querystring: listPromptsInput,
      response: { 200: promptsOutput, ...errorResponses(401, 422) },
    },
    handler: async (request) => prompts.list(request.context, request.query),
  });

  app.route({
    method: 'POST',
    url: '/api/prompts',
    config: writes(BODY),
    schema: {
      operationId: 'createPrompt',
      tags,
      summary: 'Save a prompt',
      description: 'Creates a prompt whose first version is active. An account can have up to 200 prompts.',
      body: createPromptInput,
      response: { 201: promptOutput, ...errorResponses(401, 403, 415, 422) },
    },
    handler: async (request, reply) => {
      reply.status(201);
      return prompts.create(request.context, request.body);
    },
  });

  app.route({
    method: 'GET',
    url: '/api/prompts/:id',
    config: reads({ rate: 'heavy' }),
    schema: {
      operationId: 'getPrompt',
      tags,
      summary: 'Show a prompt',
      description: 'Returns a prompt with all its versions, newest first.',
      params: promptParams,
      response: { 200: promptDetailOutput, ...errorResponses(401, 404) },
    },
    handler: async (request) => prompts.detail(request.context, request.params),
  });

  app.route({
    method: 'PATCH',
    url: '/api/prompts/:id',
    config: writes(),
    schema: {
      operationId: 'updatePrompt',
      tags,
      summary: 'Update a prompt',
      description: 'Changes the given fields, at least one. The slug stays the same when the name changes.',
      params: promptParams,
      body: updatePromptInput,
      response: { 200: promptOutput, ...errorResponses(401, 403, 404, 409, 415, 422) },
    },
    handler: async (request) => prompts.update(request.context, { ...request.body, id: request.params.id }),
  });

  app.route({
    method: 'DELETE',
    url: '/api/prompts/:id',
    config: writes(),
    schema: {
      operationId: 'deletePrompt',
      tags,
      summary: 'Delete a prompt',
      description: 'Permanently deletes a prompt and all its versions. Usage events keep the version IDs.',
      params: promptParams,
      response: { 204: nothing('The prompt was deleted.'), ...errorResponses(401, 403, 404, 415) },
    },
    handler: async (request, reply) => {
      await prompts.remove(request.context, request.params);
      reply.status(204);
    },
  });
}

function versionsOfPrompts(app: RestApp, { prompts }: Services): void {
  app.route({
    method: 'POST',
    url: '/api/prompts/:id/versions',
    config: writes(BODY),
    schema: {
      operationId: 'addPromptVersion',
      tags,
      summary: 'Add a version',
      description:
        "Adds a version with the next number. It isn't activated. A prompt can have up to 500 versions.",
      params: promptParams,
      body: addPromptVersionInput,
      response: { 201: promptVersionOutput, ...errorResponses(401, 403, 404, 415, 422) },
    },
    handler: async (request, reply) => {
      reply.status(201);
      return prompts.addVersion(request.context, { ...request.body, id: request.params.id });
    },
  });

  app.route({
    method: 'GET',
    url: '/api/prompts/:id/diff',
    config: reads({ rate: 'heavy' }),
    schema: {
      operationId: 'diffPromptVersions',
      tags,
      summary: 'Compare the content of two versions',
      description: 'Compares the content word by word, and lists the variables and parameters that differ.',
      params: promptParams,
      querystring: diffPromptInput,
      response: { 200: promptDiffOutput, ...errorResponses(401, 404, 422) },
    },
    handler: async (request) => prompts.diff(request.context, { ...request.query, id: request.params.id }),
  });

  app.route({
    method: 'POST',
    url: '/api/prompts/:id/render',
    config: writes({ ...BODY, anyMemberNames: true, rate: 'read' }),
    schema: {
      operationId: 'renderPrompt',
      tags,
      summary: 'Render a prompt',
      description:
        'Replaces the placeholders of the active version. A supplied value takes precedence over the default; if neither exists, the response is 400 `missing_variables` with all missing names. Values are inserted unchanged: not escaped and not searched for placeholders. The rendered text can be up to 1 MiB.',
      params: promptParams,
      body: renderPromptInput,
      response: { 200: renderedPromptOutput, ...errorResponses(401, 403, 404, 415, 422) },
    },
    handler: async (request) => prompts.render(request.context, { ...request.body, id: request.params.id }),
  });
}

function activeVersions(app: RestApp, { prompts }: Services): void {
  app.route({
    method: 'POST',
    url: '/api/prompts/:id/versions/:vid/activate',
    config: writes(),
    schema: {
      operationId: 'activatePromptVersion',
      tags,
      summary: 'Activate a version',
      description: 'Makes a version the one that is rendered. No body is needed.',
      params: promptVersionParams,
      querystring: movePromptInput,
      response: { 200: promptOutput, ...errorResponses(401, 403, 404, 409, 415, 422) },
    },
    handler: async (request) => prompts.activate(request.context, { ...request.query, ...request.params }),
  });

  app.route({
    method: 'POST',
    url: '/api/prompts/:id/activations/undo',
    config: writes(),
    schema: {
      operationId: 'undoPromptActivation',
      tags,
      summary: 'Undo the last activation',
      description:
        'Activates the previously active version again, as a new activation. Calling it repeatedly switches back and forth.',
      params: promptParams,
      querystring: movePromptInput,
      response: { 200: promptOutput, ...errorResponses(401, 403, 404, 409, 415, 422) },
    },
    handler: async (request) =>
      prompts.undoActivation(request.context, { ...request.query, id: request.params.id }),
  });

  app.route({
    method: 'GET',
    url: '/api/prompts/:id/activations',
    config: reads(),
    schema: {
      operationId: 'listPromptActivations',
      tags,
      summary: 'List activations',
      description: 'Returns who activated which version, newest first. The last 1,000 activations are kept.',
      params: promptParams,
      querystring: pageInput,
      response: { 200: promptActivationsOutput, ...errorResponses(401, 404, 422) },
    },
    handler: async (request) =>
      prompts.activations(request.context, { ...request.query, id: request.params.id }),
  });
}
