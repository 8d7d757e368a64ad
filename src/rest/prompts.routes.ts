import { z } from 'zod';
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
import { sendInPieces } from './json-in-pieces.js';
import { restRoutes } from './operations.js';
import { reads, writes } from './route-rules.js';

/** A version of 100,000 characters, each escaped as `\\uXXXX`. The edge forwards up to 800 KiB. */
const BODY = { bodyLimitBytes: 768 * 1024 };

/** The viewer's prompts. */
export const promptsRoutes = restRoutes('Prompts', (route, { prompts }) => {
  route('GET /api/prompts', reads({ rate: 'heavy' }), {
    operationId: 'listPrompts',
    summary: 'List my prompts',
    description:
      'Returns prompts, newest first, each with its active version. If reading a long list fails, the response ends early, without the final chunk.',
    query: listPromptsInput,
    returns: { 200: promptsOutput },
    run: async ({ context, query }, reply) => {
      const { first, rest } = await prompts.list(context, query);
      return rest ? sendInPieces(reply, '[]', promptOutput, { first, rest }) : first;
    },
  });

  route('POST /api/prompts', writes(BODY), {
    operationId: 'createPrompt',
    summary: 'Save a prompt',
    description:
      'Creates a prompt whose first version is active. An account can have up to 200 prompts, with up to 20,000,000 characters together.',
    body: createPromptInput,
    returns: { 201: promptOutput },
    run: ({ context, body }) => prompts.create(context, body),
  });

  route('GET /api/prompts/:id', reads({ rate: 'heavy' }), {
    operationId: 'getPrompt',
    summary: 'Show a prompt',
    description:
      'Returns a prompt with all its versions, newest first. If reading long versions fails, the response ends early, without the final chunk.',
    params: promptParams,
    returns: { 200: promptDetailOutput },
    run: async ({ context, params }, reply) => {
      const { prompt, versions } = await prompts.detail(context, params);
      const { first, rest } = versions;
      if (!rest) return { ...prompt, versions: first };
      const empty = JSON.stringify(z.encode(promptDetailOutput, { ...prompt, versions: [] }));
      return sendInPieces(reply, empty, promptVersionOutput, { first, rest });
    },
  });

  route('PATCH /api/prompts/:id', writes(), {
    operationId: 'updatePrompt',
    summary: 'Update a prompt',
    description: 'Changes the given fields, at least one. The slug stays the same when the name changes.',
    params: promptParams,
    body: updatePromptInput,
    returns: { 200: promptOutput },
    errors: [409],
    run: ({ context, params, body }) => prompts.update(context, { ...body, id: params.id }),
  });

  route('DELETE /api/prompts/:id', writes(), {
    operationId: 'deletePrompt',
    summary: 'Delete a prompt',
    description: 'Permanently deletes a prompt and all its versions. Usage events keep the version IDs.',
    params: promptParams,
    returns: { 204: 'The prompt was deleted.' },
    run: ({ context, params }) => prompts.remove(context, params),
  });

  route('POST /api/prompts/:id/versions', writes(BODY), {
    operationId: 'addPromptVersion',
    summary: 'Add a version',
    description:
      "Adds a version with the next number. It isn't activated. A prompt can have up to 500 versions.",
    params: promptParams,
    body: addPromptVersionInput,
    returns: { 201: promptVersionOutput },
    run: ({ context, params, body }) => prompts.addVersion(context, { ...body, id: params.id }),
  });

  route('GET /api/prompts/:id/diff', reads({ rate: 'heavy' }), {
    operationId: 'diffPromptVersions',
    summary: 'Compare the content of two versions',
    description: 'Compares the content word by word, and lists the variables and parameters that differ.',
    params: promptParams,
    query: diffPromptInput,
    returns: { 200: promptDiffOutput },
    run: ({ context, params, query }) => prompts.diff(context, { ...query, id: params.id }),
  });

  route('POST /api/prompts/:id/render', writes({ ...BODY, anyMemberNames: true, rate: 'read' }), {
    operationId: 'renderPrompt',
    summary: 'Render a prompt',
    description:
      'Replaces the placeholders of the active version. A supplied value takes precedence over the default; if neither exists, the response is 400 `missing_variables` with all missing names. Values are inserted unchanged: not escaped and not searched for placeholders. The rendered text can be up to 1 MiB.',
    params: promptParams,
    body: renderPromptInput,
    returns: { 200: renderedPromptOutput },
    run: ({ context, params, body }) => prompts.render(context, { ...body, id: params.id }),
  });

  route('POST /api/prompts/:id/versions/:vid/activate', writes(), {
    operationId: 'activatePromptVersion',
    summary: 'Activate a version',
    description: 'Makes a version the one that is rendered. No body is needed.',
    params: promptVersionParams,
    query: movePromptInput,
    returns: { 200: promptOutput },
    errors: [409],
    run: ({ context, params, query }) => prompts.activate(context, { ...query, ...params }),
  });

  route('POST /api/prompts/:id/activations/undo', writes(), {
    operationId: 'undoPromptActivation',
    summary: 'Undo the last activation',
    description:
      'Activates the previously active version again, as a new activation. Calling it repeatedly switches back and forth.',
    params: promptParams,
    query: movePromptInput,
    returns: { 200: promptOutput },
    errors: [409],
    run: ({ context, params, query }) => prompts.undoActivation(context, { ...query, id: params.id }),
  });

  route('GET /api/prompts/:id/activations', reads(), {
    operationId: 'listPromptActivations',
    summary: 'List activations',
    description: 'Returns who activated which version, newest first. The last 1,000 activations are kept.',
    params: promptParams,
    query: pageInput,
    returns: { 200: promptActivationsOutput },
    run: ({ context, params, query }) => prompts.activations(context, { ...query, id: params.id }),
  });
});
