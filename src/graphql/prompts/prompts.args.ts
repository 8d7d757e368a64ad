import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { z } from 'zod';
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
  updatePromptInput,
} from '../../services/prompts/prompts.inputs.js';
import { PageArgs } from '../connections.js';
import { descriptionOf, inputFields } from '../zod-fields.js';

const promptId = z.object({ prompt_id: promptParams.shape.id });

@ArgsType()
export class PromptArgs extends inputFields(promptParams, { id: ID }) {}

@ArgsType()
export class PromptsArgs extends PageArgs {
  @Field(() => String, { nullable: true, description: descriptionOf(listPromptsInput.shape.search) })
  search?: string | null;
}

@ArgsType()
export class PromptDiffArgs extends inputFields(diffPromptInput) {}

@ArgsType()
export class PromptActivationsArgs extends inputFields(pageInput.pick({ limit: true })) {}

@InputType({ description: promptVariableInput.description })
export class PromptVariableInput extends inputFields(promptVariableInput) {}

@InputType({ description: promptConfigInput.description })
export class PromptConfigInput extends inputFields(promptConfigInput) {}

const VERSION_TYPES = { variables: [PromptVariableInput], config: PromptConfigInput };

@InputType({ description: createPromptInput.description })
export class CreatePromptInput extends inputFields(createPromptInput, VERSION_TYPES) {}

@InputType({ description: addPromptVersionInput.description })
export class AddPromptVersionInput extends inputFields(promptId.extend(addPromptVersionInput.shape), {
  promptId: ID,
  ...VERSION_TYPES,
}) {}

const { name, description, expected_revision } = updatePromptInput.shape;

@InputType({ description: updatePromptInput.description })
export class UpdatePromptInput extends inputFields(
  promptParams.extend({ name, description, expected_revision }),
  { id: ID },
) {}

@InputType({ description: 'The version to activate.' })
export class ActivatePromptVersionInput extends inputFields(
  promptId.extend({ version_id: promptVersionId, ...movePromptInput.shape }),
  { promptId: ID, versionId: ID },
) {}

@InputType({ description: 'The prompt whose last activation to undo.' })
export class UndoPromptActivationInput extends inputFields(promptId.extend(movePromptInput.shape), {
  promptId: ID,
}) {}

@InputType({ description: 'The prompt to delete.' })
export class DeletePromptInput extends inputFields(promptParams, { id: ID }) {}

@InputType({ description: promptValueInput.description })
export class PromptValueInput extends inputFields(promptValueInput) {}

@ArgsType()
export class RenderPromptArgs extends inputFields(renderPromptListInput, {
  variables: [PromptValueInput],
}) {}
