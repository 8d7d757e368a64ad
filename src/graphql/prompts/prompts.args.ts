import { ArgsType, Field, Float, ID, InputType, Int } from 'type-graphql';
import {
  addPromptVersionInput,
  createPromptInput,
  diffPromptInput,
  listPromptsInput,
  promptConfigInput,
  promptVariableInput,
  updatePromptInput,
} from '../../services/prompts/prompts.inputs.js';
import { PageArgs } from '../connections.js';
import { fieldDocs } from '../docs.js';

const ID_OF_PROMPT = 'Id or slug of the prompt.';
const create = fieldDocs(createPromptInput);
const version = fieldDocs(addPromptVersionInput);
const update = fieldDocs(updatePromptInput);
const variable = fieldDocs(promptVariableInput);
const config = fieldDocs(promptConfigInput);
const diff = fieldDocs(diffPromptInput);

@ArgsType()
export class PromptArgs {
  @Field(() => ID, { description: ID_OF_PROMPT })
  id!: string;
}

@ArgsType()
export class PromptsArgs extends PageArgs {
  @Field(() => String, { nullable: true, description: fieldDocs(listPromptsInput).search })
  search?: string | null;
}

@ArgsType()
export class PromptDiffArgs {
  @Field(() => Int, { description: diff.from })
  from!: number;

  @Field(() => Int, { description: diff.to })
  to!: number;
}

@ArgsType()
export class PromptActivationsArgs {
  @Field(() => Int, { defaultValue: 50, description: 'Most entries to return, 1 to 500.' })
  limit!: number;
}

@InputType({ description: promptVariableInput.description })
export class PromptVariableInput {
  @Field({ description: variable.name })
  name!: string;

  @Field(() => String, { nullable: true, description: variable.description })
  description?: string | null;

  @Field(() => String, { nullable: true, description: variable.default })
  default?: string | null;
}

@InputType({ description: promptConfigInput.description })
export class PromptConfigInput {
  @Field(() => String, { nullable: true, description: config.modelPublicName })
  modelPublicName?: string | null;

  @Field(() => Float, { nullable: true, description: config.temperature })
  temperature?: number | null;

  @Field(() => Int, { nullable: true, description: config.maxTokens })
  maxTokens?: number | null;

  @Field(() => Float, { nullable: true, description: config.topP })
  topP?: number | null;
}

@InputType()
abstract class VersionInput {
  @Field({ description: version.content })
  content!: string;

  @Field(() => [PromptVariableInput], { defaultValue: [], description: version.variables })
  variables!: PromptVariableInput[];

  @Field(() => PromptConfigInput, { nullable: true, description: version.config })
  config?: PromptConfigInput | null;

  @Field(() => String, { nullable: true, description: version.notes })
  notes?: string | null;
}

@InputType({ description: createPromptInput.description })
export class CreatePromptInput extends VersionInput {
  @Field({ description: create.name })
  name!: string;

  @Field(() => String, { nullable: true, description: create.description })
  description?: string | null;
}

@InputType({ description: addPromptVersionInput.description })
export class AddPromptVersionInput extends VersionInput {
  @Field(() => ID, { description: ID_OF_PROMPT })
  promptId!: string;
}

@InputType({ description: updatePromptInput.description })
export class UpdatePromptInput {
  @Field(() => ID, { description: ID_OF_PROMPT })
  id!: string;

  @Field(() => String, { nullable: true, description: update.name })
  name?: string;

  @Field(() => String, { nullable: true, description: update.description })
  description?: string | null;

  @Field(() => Int, { nullable: true, description: update.expectedRevision })
  expectedRevision?: number | null;
}

@InputType({ description: 'A version that is to be the active one.' })
export class ActivatePromptVersionInput {
  @Field(() => ID, { description: ID_OF_PROMPT })
  promptId!: string;

  @Field(() => ID, { description: 'Id of the version.' })
  versionId!: string;

  @Field(() => Int, { nullable: true, description: update.expectedRevision })
  expectedRevision?: number | null;
}

@InputType({ description: 'A prompt whose last activation is to be undone.' })
export class UndoPromptActivationInput {
  @Field(() => ID, { description: ID_OF_PROMPT })
  promptId!: string;

  @Field(() => Int, { nullable: true, description: update.expectedRevision })
  expectedRevision?: number | null;
}

@InputType({ description: 'A prompt that is to go.' })
export class DeletePromptInput {
  @Field(() => ID, { description: ID_OF_PROMPT })
  id!: string;
}

@InputType({ description: 'A value for a placeholder.' })
export class PromptValueInput {
  @Field({ description: 'Name of the placeholder.' })
  name!: string;

  @Field({ description: 'What is put in, as it is.' })
  value!: string;
}

@ArgsType()
export class RenderPromptArgs {
  @Field(() => [PromptValueInput], {
    defaultValue: [],
    description: 'Values for placeholders, each name once. A value wins over the default.',
  })
  variables!: PromptValueInput[];
}
