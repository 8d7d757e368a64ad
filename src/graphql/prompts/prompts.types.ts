import { z } from 'zod';
import { uuid } from '../../lib/output-fields.js';
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
import { connectionOf } from '../connections.js';
import { enumOf } from '../enum-of.js';
import { TEXT_COST } from '../text-cost.js';
import { objectType } from '../zod-fields.js';

enumOf('PromptWarningCode', 'Type of a prompt warning.', promptWarningOutput.shape.code, {
  undeclared_placeholder: 'A placeholder is not declared, so every render must supply a value.',
  unused_variable: 'A variable is declared, but the content has no placeholder for it.',
});

enumOf('PromptDiffKind', 'Which versions contain a piece of text.', diffPartOutput.shape.kind, {
  same: 'Both versions.',
  added: 'Only the second version.',
  removed: 'Only the first version.',
});

objectType('PromptVariable', promptVariableOutput, {}, { description: TEXT_COST, default: TEXT_COST });
objectType('PromptConfig', promptConfigOutput);
// The name of a placeholder may be as long as the content.
objectType('PromptWarning', promptWarningOutput, {}, { name: TEXT_COST, message: TEXT_COST });
const PromptVersion = objectType('PromptVersion', promptVersionOutput, {}, { content: TEXT_COST });
export const PromptVersionConnection = connectionOf(PromptVersion, 'versions of a prompt');
export const Prompt = objectType('Prompt', promptOutput);
export const PromptConnection = connectionOf(Prompt, 'prompts');
export const PromptActivation = objectType('PromptActivation', promptActivationOutput);
objectType('PromptDiffPart', diffPartOutput, {}, { text: TEXT_COST });
export const PromptDiff = objectType('PromptDiff', promptDiffOutput);
/** A megabyte, serialized in one go: one fits into an operation. */
const RENDERED_COST = 5_000;
export const RenderedPrompt = objectType(
  'RenderedPrompt',
  renderedPromptOutput,
  {},
  { renderedContent: RENDERED_COST, unusedVariables: TEXT_COST },
);
export const PromptChange = objectType(
  'PromptChange',
  z
    .object({
      prompt_id: uuid('Prompt ID.'),
      deleted: z.boolean().describe('Whether the prompt was deleted.'),
    })
    .describe('A prompt that was created, changed or deleted.'),
);
