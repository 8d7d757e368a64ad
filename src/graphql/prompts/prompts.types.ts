import { Field, ID, ObjectType } from 'type-graphql';
import {
  diffPartOutput,
  promptActivationOutput,
  promptConfigOutput,
  promptDiffOutput,
  promptOutput,
  promptVariableOutput,
  promptVersionOutput,
  promptWarningOutput,
  renderedPromptOutput,
} from '../../services/prompts/prompts.outputs.js';
import { connectionOf, pageOf } from '../connections.js';
import { enumOf } from '../enum-of.js';
import { outputFields } from '../zod-fields.js';

const PromptWarningCode = enumOf(
  'PromptWarningCode',
  'Type of a prompt warning.',
  promptWarningOutput.shape.code,
  {
    undeclared_placeholder: 'A placeholder is not declared, so every render must supply a value.',
    unused_variable: 'A variable is declared, but the content has no placeholder for it.',
  },
);

const PromptDiffKind = enumOf(
  'PromptDiffKind',
  'Which versions contain a piece of text.',
  diffPartOutput.shape.kind,
  { same: 'Both versions.', added: 'Only the second version.', removed: 'Only the first version.' },
);

@ObjectType({ description: promptVariableOutput.description })
export class PromptVariable extends outputFields(promptVariableOutput) {}

@ObjectType({ description: promptConfigOutput.description })
export class PromptConfig extends outputFields(promptConfigOutput) {}

@ObjectType({ description: promptWarningOutput.description })
export class PromptWarning extends outputFields(promptWarningOutput, { code: PromptWarningCode }) {}

@ObjectType({ description: promptVersionOutput.description })
export class PromptVersion extends outputFields(promptVersionOutput, {
  variables: [PromptVariable],
  config: PromptConfig,
  warnings: [PromptWarning],
}) {}

@ObjectType({ description: pageOf('versions of a prompt') })
export class PromptVersionConnection extends connectionOf(PromptVersion, 'versions of a prompt') {}

@ObjectType({ description: promptOutput.description })
export class Prompt extends outputFields(promptOutput, { activeVersion: PromptVersion }) {}

@ObjectType({ description: pageOf('prompts') })
export class PromptConnection extends connectionOf(Prompt, 'prompts') {}

@ObjectType({ description: promptActivationOutput.description })
export class PromptActivation extends outputFields(promptActivationOutput) {}

@ObjectType({ description: diffPartOutput.description })
export class PromptDiffPart extends outputFields(diffPartOutput, { kind: PromptDiffKind }) {}

@ObjectType({ description: promptDiffOutput.description })
export class PromptDiff extends outputFields(promptDiffOutput, { content: [PromptDiffPart] }) {}

@ObjectType({ description: renderedPromptOutput.description })
export class RenderedPrompt extends outputFields(renderedPromptOutput) {}

@ObjectType()
abstract class PromptPayload {
  @Field(() => Prompt, { description: 'The updated prompt.' })
  prompt!: Prompt;
}

@ObjectType({ description: 'The new prompt.' })
export class CreatePromptPayload extends PromptPayload {}

@ObjectType({ description: 'The updated prompt.' })
export class UpdatePromptPayload extends PromptPayload {}

@ObjectType({ description: 'The prompt with its new active version.' })
export class ActivatePromptVersionPayload extends PromptPayload {}

@ObjectType({ description: 'The prompt with its previous version active again.' })
export class UndoPromptActivationPayload extends PromptPayload {}

@ObjectType({ description: 'The new version, which is not active yet.' })
export class AddPromptVersionPayload extends PromptPayload {
  @Field(() => PromptVersion, { description: 'The new version.' })
  version!: PromptVersion;
}

@ObjectType({ description: 'The result of a deletion.' })
export class DeletePromptPayload {
  @Field(() => ID, { description: 'ID or slug of the deleted prompt, as requested.' })
  deletedPromptId!: string;
}

@ObjectType({ description: 'A prompt that was created, changed or deleted.' })
export class PromptChange {
  @Field(() => ID, { description: 'Prompt ID.' })
  promptId!: string;

  @Field({ description: 'Whether the prompt was deleted.' })
  deleted!: boolean;
}
