import type { ComplexityEstimator } from 'graphql-query-complexity';
import { ID } from 'type-graphql';
import { z } from 'zod';
import { uuid } from '../../lib/output-fields.js';
import {
  addPromptVersionInput,
  createPromptInput,
  diffPromptInput,
  listPromptsInput,
  movePromptInput,
  pageInput,
  promptConfigInput,
  promptParams,
  promptValueInput,
  promptVariableInput,
  promptVersionId,
  renderPromptListInput,
  sequenceConnectionInput,
  timeConnectionInput,
  updatePromptInput,
} from '../../services/prompts/prompts.inputs.js';
import { promptOutput, promptVersionOutput } from '../../services/prompts/prompts.outputs.js';
import { Viewer } from '../accounts/accounts.types.js';
import { camelCased, toGraphql, toGraphqlAs } from '../case.js';
import { connectionArgs, listCost, pageCost, toConnection } from '../connections.js';
import { field, mutation, subscription } from '../fields.js';
import { checked } from '../input.js';
import { inputType } from '../zod-fields.js';
import {
  Prompt,
  PromptActivation,
  PromptChange,
  PromptConnection,
  PromptDiff,
  PromptVersionConnection,
  RenderedPrompt,
} from './prompts.types.js';

/** Each prompt of a page may have 100,000 characters to read, whatever fields are requested. */
const READING_COST = 25;
const textsCost: ComplexityEstimator = (options) =>
  pageCost({ ...options, childComplexity: options.childComplexity + READING_COST });
/** As many comparisons a minute as over REST: each may take a twentieth of a second of this process. */
const diffCost: ComplexityEstimator = ({ childComplexity }) => 5_000 + childComplexity;
/** Each counts as a read, as over REST; its text costs more (`prompts.types.ts`). */
const renderCost: ComplexityEstimator = ({ childComplexity }) => 500 + childComplexity;

const lastInput = pageInput.pick({ limit: true });
const promptId = z.object({ prompt_id: promptParams.shape.id });
const { name, description, expected_revision } = updatePromptInput.shape;
const changedPrompt = z.object({ prompt: promptOutput.describe('The updated prompt.') });

const versionTypes = {
  variables: [inputType('PromptVariableInput', promptVariableInput)],
  config: inputType('PromptConfigInput', promptConfigInput),
};
const PromptValueInput = inputType('PromptValueInput', promptValueInput);

const promptMutations = [
  mutation('createPrompt', 'session', {
    description:
      'Creates a prompt whose first version is active. An account can have up to 200 prompts, with up to 20,000,000 characters together.',
    input: createPromptInput,
    inputTypes: versionTypes,
    argument: 'The prompt.',
    payload: changedPrompt.describe('The new prompt.'),
    run: ({ services, service }, input) =>
      toGraphqlAs('prompt', services.prompts.create(service, checked(createPromptInput, input))),
  }),
  mutation('updatePrompt', 'session', {
    description: 'Changes name and description. The slug stays the same.',
    input: promptParams
      .extend({ name, description, expected_revision })
      .describe(updatePromptInput.description ?? ''),
    inputTypes: { id: ID },
    argument: 'The prompt and the changes.',
    payload: changedPrompt.describe('The updated prompt.'),
    run: async ({ services, service }, { id, ...change }) => {
      const input = { ...checked(updatePromptInput, change), id };
      return toGraphqlAs('prompt', services.prompts.update(service, input));
    },
  }),
  mutation('addPromptVersion', 'session', {
    description: "Adds a version, which isn't activated. A prompt can have up to 500 versions.",
    input: promptId.extend(addPromptVersionInput.shape).describe(addPromptVersionInput.description ?? ''),
    inputTypes: { promptId: ID, ...versionTypes },
    argument: 'The prompt and the version.',
    payload: changedPrompt
      .extend({ version: promptVersionOutput.describe('The new version.') })
      .describe('The new version, which is not active yet.'),
    run: async ({ services, service }, { promptId, ...version }) => {
      const input = { ...checked(addPromptVersionInput, version), id: promptId };
      const added = await services.prompts.addVersion(service, input);
      const prompt = await services.prompts.get(service, { id: promptId });
      return { prompt: camelCased(prompt), version: camelCased(added) };
    },
  }),
  mutation('activatePromptVersion', 'session', {
    description: 'Makes a version the one that is rendered.',
    input: promptId
      .extend({ version_id: promptVersionId, ...movePromptInput.shape })
      .describe('The version to activate.'),
    inputTypes: { promptId: ID, versionId: ID },
    argument: 'The prompt and the version.',
    payload: changedPrompt.describe('The prompt with its new active version.'),
    run: async ({ services, service }, { promptId, versionId, ...expected }) => {
      const input = { ...checked(movePromptInput, expected), id: promptId, vid: versionId };
      return toGraphqlAs('prompt', services.prompts.activate(service, input));
    },
  }),
  mutation('undoPromptActivation', 'session', {
    description: 'Activates the previously active version again, as a new activation.',
    input: promptId.extend(movePromptInput.shape).describe('The prompt whose last activation to undo.'),
    inputTypes: { promptId: ID },
    argument: 'The prompt.',
    payload: changedPrompt.describe('The prompt with its previous version active again.'),
    run: async ({ services, service }, { promptId, ...expected }) => {
      const input = { ...checked(movePromptInput, expected), id: promptId };
      return toGraphqlAs('prompt', services.prompts.undoActivation(service, input));
    },
  }),
  mutation('deletePrompt', 'session', {
    description: 'Permanently deletes a prompt and all its versions.',
    input: promptParams.describe('The prompt to delete.'),
    inputTypes: { id: ID },
    argument: 'The prompt.',
    payload: z
      .object({ deleted_prompt_id: uuid('ID or slug of the deleted prompt, as requested.') })
      .describe('The result of a deletion.'),
    run: async ({ services, service }, { id }) => {
      await services.prompts.remove(service, { id });
      return { deletedPromptId: id };
    },
  }),
];

const listedPrompts = [
  field(Viewer, 'prompts', PromptConnection, {
    description: 'Saved prompts of the account.',
    complexity: textsCost,
    args: connectionArgs.extend({ search: listPromptsInput.shape.search }),
    run: async ({ services, service }, { search, ...args }) => {
      const { search: wanted } = checked(listPromptsInput.pick({ search: true }), { search });
      const page = { ...checked(timeConnectionInput, args), search: wanted };
      return toConnection(services.prompts.page(service, page), args);
    },
  }),
  field(Viewer, 'prompt', Prompt, {
    nullable: true,
    description: 'A saved prompt, by ID or slug.',
    complexity: ({ childComplexity }) => READING_COST + childComplexity,
    args: promptParams,
    argTypes: { id: ID },
    run: ({ services, service }, { id }) => toGraphql(services.prompts.get(service, { id })),
  }),
];

const fieldsOfPrompts = [
  field(Prompt, 'versions', PromptVersionConnection, {
    description: 'Versions of the prompt.',
    complexity: textsCost,
    args: connectionArgs,
    run: ({ loaders }, args, { id }) =>
      toConnection(
        loaders.versionsOfPrompts.load({ id, window: checked(sequenceConnectionInput, args) }),
        args,
      ),
  }),
  field(Prompt, 'activations', [PromptActivation], {
    description: 'Activations of versions, newest first.',
    complexity: listCost,
    args: lastInput,
    run: ({ loaders }, args, { id }) =>
      toGraphql(loaders.activationsOfPrompts.load({ id, window: checked(lastInput, args) })),
  }),
  field(Prompt, 'diff', PromptDiff, {
    nullable: true,
    description: 'The differences between two versions.',
    complexity: diffCost,
    args: diffPromptInput,
    run: ({ services, service }, args, { id }) =>
      toGraphql(services.prompts.diff(service, { ...checked(diffPromptInput, args), id })),
  }),
  field(Prompt, 'rendered', RenderedPrompt, {
    nullable: true,
    description: 'The active version with all placeholders replaced.',
    complexity: renderCost,
    args: renderPromptListInput,
    argTypes: { variables: [PromptValueInput] },
    run: ({ services, service }, args, { id }) =>
      toGraphql(services.prompts.render(service, { ...checked(renderPromptListInput, args), id })),
  }),
  field(PromptChange, 'prompt', Prompt, {
    nullable: true,
    description: 'The prompt; null if it was deleted.',
    run: ({ loaders }, _args, { promptId }) => loaders.prompts.load(promptId),
  }),
  subscription('promptChanged', 'session', PromptChange, {
    description:
      'Sends each prompt of the account that is created, changed or deleted from now on, once the change is committed. Changes in quick succession are merged into one event. Requires a session.',
    subscribe: ({ services, service }) => services.promptFeed.promptChanged(service),
  }),
];

/** The prompts of the signed-in account. */
export const promptsResolvers = [...promptMutations, ...listedPrompts, ...fieldsOfPrompts];
