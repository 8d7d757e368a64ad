import { Field, Float, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import {
  type DiffPartOutput,
  diffPartOutput,
  type PromptActivationOutput,
  type PromptConfigOutput,
  type PromptDiffOutput,
  type PromptOutput,
  type PromptVariableOutput,
  type PromptVersionOutput,
  type PromptWarningOutput,
  promptActivationOutput,
  promptConfigOutput,
  promptDiffOutput,
  promptOutput,
  promptVariableOutput,
  promptVersionOutput,
  promptWarningOutput,
  type RenderedPromptOutput,
  renderedPromptOutput,
} from '../../services/prompts/prompts.outputs.js';
import type { Camel } from '../case.js';
import { connectionOf, pageOf } from '../connections.js';
import { fieldDocs } from '../docs.js';
import { DateTime } from '../scalars.js';

export const PromptWarningCode = {
  UNDECLARED_PLACEHOLDER: 'undeclared_placeholder',
  UNUSED_VARIABLE: 'unused_variable',
} as const;
registerEnumType(PromptWarningCode, {
  name: 'PromptWarningCode',
  description: 'What is odd about a version.',
  valuesConfig: {
    UNDECLARED_PLACEHOLDER: { description: 'A placeholder is not declared: each render must supply it.' },
    UNUSED_VARIABLE: { description: 'A variable is declared, but the content has no placeholder for it.' },
  },
});

export const DiffKind = { SAME: 'same', ADDED: 'added', REMOVED: 'removed' } as const;
registerEnumType(DiffKind, {
  name: 'PromptDiffKind',
  description: 'Where a run of text stands.',
  valuesConfig: {
    SAME: { description: 'In both versions.' },
    ADDED: { description: 'In the second alone.' },
    REMOVED: { description: 'In the first alone.' },
  },
});

const variableDoc = fieldDocs(promptVariableOutput);

@ObjectType({ description: promptVariableOutput.description })
export class PromptVariable implements Camel<PromptVariableOutput> {
  @Field({ description: variableDoc.name })
  name!: string;

  @Field(() => String, { nullable: true, description: variableDoc.description })
  description!: string | null;

  @Field(() => String, { nullable: true, description: variableDoc.default })
  default!: string | null;
}

const configDoc = fieldDocs(promptConfigOutput);

@ObjectType({ description: promptConfigOutput.description })
export class PromptConfig implements Camel<PromptConfigOutput> {
  @Field(() => String, { nullable: true, description: configDoc.modelPublicName })
  modelPublicName!: string | null;

  @Field(() => Float, { nullable: true, description: configDoc.temperature })
  temperature!: number | null;

  @Field(() => Int, { nullable: true, description: configDoc.maxTokens })
  maxTokens!: number | null;

  @Field(() => Float, { nullable: true, description: configDoc.topP })
  topP!: number | null;
}

const warningDoc = fieldDocs(promptWarningOutput);

@ObjectType({ description: promptWarningOutput.description })
export class PromptWarning implements Camel<PromptWarningOutput> {
  @Field(() => PromptWarningCode, { description: warningDoc.code })
  code!: 'undeclared_placeholder' | 'unused_variable';

  @Field({ description: warningDoc.name })
  name!: string;

  @Field({ description: warningDoc.message })
  message!: string;
}

const versionDoc = fieldDocs(promptVersionOutput);

@ObjectType({ description: promptVersionOutput.description })
export class PromptVersion implements Camel<PromptVersionOutput> {
  @Field(() => ID, { description: versionDoc.id })
  id!: string;

  @Field(() => Int, { description: versionDoc.version })
  version!: number;

  @Field({ description: versionDoc.content })
  content!: string;

  @Field(() => [PromptVariable], { description: versionDoc.variables })
  variables!: PromptVariable[];

  @Field(() => PromptConfig, { nullable: true, description: versionDoc.config })
  config!: PromptConfig | null;

  @Field(() => String, { nullable: true, description: versionDoc.notes })
  notes!: string | null;

  @Field(() => [PromptWarning], { description: versionDoc.warnings })
  warnings!: PromptWarning[];

  @Field(() => DateTime, { description: versionDoc.createdAt })
  createdAt!: string;
}

@ObjectType({ description: pageOf('versions of a prompt') })
export class PromptVersionConnection extends connectionOf(PromptVersion, 'versions of a prompt') {}

const doc = fieldDocs(promptOutput);

@ObjectType({ description: promptOutput.description })
export class Prompt implements Camel<PromptOutput> {
  @Field(() => ID, { description: doc.id })
  id!: string;

  @Field({ description: doc.slug })
  slug!: string;

  @Field({ description: doc.name })
  name!: string;

  @Field(() => String, { nullable: true, description: doc.description })
  description!: string | null;

  @Field(() => ID, { description: doc.activeVersionId })
  activeVersionId!: string;

  @Field(() => PromptVersion, { description: doc.activeVersion })
  activeVersion!: PromptVersion;

  @Field(() => Int, { description: doc.versionCount })
  versionCount!: number;

  @Field(() => Int, { description: doc.revision })
  revision!: number;

  @Field(() => DateTime, { description: doc.createdAt })
  createdAt!: string;

  @Field(() => DateTime, { description: doc.updatedAt })
  updatedAt!: string;
}

@ObjectType({ description: pageOf('prompts') })
export class PromptConnection extends connectionOf(Prompt, 'prompts') {}

const activationDoc = fieldDocs(promptActivationOutput);

@ObjectType({ description: promptActivationOutput.description })
export class PromptActivation implements Camel<PromptActivationOutput> {
  @Field(() => Int, { description: activationDoc.fromVersion })
  fromVersion!: number;

  @Field(() => Int, { description: activationDoc.toVersion })
  toVersion!: number;

  @Field(() => ID, { description: activationDoc.by })
  by!: string;

  @Field(() => DateTime, { description: activationDoc.at })
  at!: string;
}

const partDoc = fieldDocs(diffPartOutput);

@ObjectType({ description: diffPartOutput.description })
export class PromptDiffPart implements Camel<DiffPartOutput> {
  @Field(() => DiffKind, { description: partDoc.kind })
  kind!: 'same' | 'added' | 'removed';

  @Field({ description: partDoc.text })
  text!: string;
}

const diffDoc = fieldDocs(promptDiffOutput);

@ObjectType({ description: promptDiffOutput.description })
export class PromptDiff implements Camel<PromptDiffOutput> {
  @Field(() => Int, { description: diffDoc.fromVersion })
  fromVersion!: number;

  @Field(() => Int, { description: diffDoc.toVersion })
  toVersion!: number;

  @Field(() => [PromptDiffPart], { description: diffDoc.content })
  content!: PromptDiffPart[];

  @Field(() => [String], { description: diffDoc.addedVariables })
  addedVariables!: string[];

  @Field(() => [String], { description: diffDoc.removedVariables })
  removedVariables!: string[];

  @Field(() => [String], { description: diffDoc.changedVariables })
  changedVariables!: string[];

  @Field({ description: diffDoc.configChanged })
  configChanged!: boolean;
}

const renderedDoc = fieldDocs(renderedPromptOutput);

@ObjectType({ description: renderedPromptOutput.description })
export class RenderedPrompt implements Camel<RenderedPromptOutput> {
  @Field({ description: renderedDoc.renderedContent })
  renderedContent!: string;

  @Field(() => Int, { description: renderedDoc.versionUsed })
  versionUsed!: number;

  @Field(() => ID, { description: renderedDoc.promptVersionId })
  promptVersionId!: string;

  @Field(() => [String], { description: renderedDoc.unusedVariables })
  unusedVariables!: string[];
}

@ObjectType()
abstract class PromptPayload {
  @Field(() => Prompt, { description: 'The prompt as it is now.' })
  prompt!: Prompt;
}

@ObjectType({ description: 'A new prompt.' })
export class CreatePromptPayload extends PromptPayload {}

@ObjectType({ description: 'A changed prompt.' })
export class UpdatePromptPayload extends PromptPayload {}

@ObjectType({ description: 'A prompt with another active version.' })
export class ActivatePromptVersionPayload extends PromptPayload {}

@ObjectType({ description: 'A prompt whose active version is the one before.' })
export class UndoPromptActivationPayload extends PromptPayload {}

@ObjectType({ description: 'A new version, which is not active yet.' })
export class AddPromptVersionPayload extends PromptPayload {
  @Field(() => PromptVersion, { description: 'The new version.' })
  version!: PromptVersion;
}

@ObjectType({ description: 'What was deleted.' })
export class DeletePromptPayload {
  @Field(() => ID, { description: 'Id or slug, as it was asked for, of the prompt that is gone.' })
  deletedPromptId!: string;
}

@ObjectType({ description: 'A prompt that was made, changed or deleted.' })
export class PromptChange {
  @Field(() => ID, { description: 'Id of the prompt.' })
  promptId!: string;

  @Field({ description: 'Whether it is gone.' })
  deleted!: boolean;
}
