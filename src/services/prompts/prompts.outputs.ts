import { z } from 'zod';
import { decimal, timestamp, uuid } from '../../lib/output-fields.js';

export const promptVariableOutput = z
  .object({
    name: z.string().describe('Name of the placeholder.'),
    description: z.string().nullable().describe('What it is for.'),
    default: z.string().nullable().describe('Value where none is supplied; null: a value is required.'),
  })
  .meta({ id: 'PromptVariable', description: 'A declared variable of a prompt.' });
export type PromptVariableOutput = z.infer<typeof promptVariableOutput>;

export const promptConfigOutput = z
  .object({
    model_public_name: z.string().nullable().describe('Public name of a chat model.'),
    temperature: z.number().nullable().describe('0 to 2.'),
    max_tokens: z.int().nullable().describe('Most tokens of an answer.'),
    top_p: z.number().nullable().describe('0 to 1.'),
  })
  .meta({ id: 'PromptConfig', description: 'Model and parameters that a version is meant for.' });
export type PromptConfigOutput = z.infer<typeof promptConfigOutput>;

export const promptWarningOutput = z
  .object({
    code: z
      .enum(['undeclared_placeholder', 'unused_variable'])
      .describe('A placeholder that is not declared, or a declared variable that is not used.'),
    name: z.string().describe('Name of the placeholder or variable.'),
    message: z.string().describe('The same in words.'),
  })
  .meta({ id: 'PromptWarning', description: 'Something odd about a version, which is saved all the same.' });
export type PromptWarningOutput = z.infer<typeof promptWarningOutput>;

export const promptVersionOutput = z
  .object({
    id: uuid('Id of the version.'),
    version: z.int().describe('Number within its prompt, from 1.'),
    content: z.string().describe('Text with `{{ name }}` placeholders.'),
    variables: z.array(promptVariableOutput).describe('Declared variables.'),
    config: promptConfigOutput
      .nullable()
      .describe('Model and parameters that the version is meant for; null: none.'),
    notes: z.string().nullable().describe('What changed.'),
    warnings: z
      .array(promptWarningOutput)
      .describe('Placeholders that are not declared and variables that are not used.'),
    created_at: timestamp('Time of its making.'),
  })
  .meta({ id: 'PromptVersion', description: 'A version of a prompt. It never changes.' });
export type PromptVersionOutput = z.infer<typeof promptVersionOutput>;

export const promptOutput = z
  .object({
    id: uuid('Id of the prompt.'),
    slug: z.string().describe('Name for addresses, unique among the prompts of the account; it stays.'),
    name: z.string().describe('Name.'),
    description: z.string().nullable().describe('What the prompt is for.'),
    active_version_id: uuid('Id of the version that is rendered.'),
    active_version: promptVersionOutput.describe('The version that is rendered.'),
    version_count: z.int().describe('How many versions there are.'),
    revision: z.int().describe('Raised by every change; for `expected_revision`.'),
    created_at: timestamp('Time of its making.'),
    updated_at: timestamp('Time of its last change, new versions included.'),
  })
  .meta({ id: 'Prompt', description: 'A saved prompt with its active version.' });
export const promptsOutput = z.array(promptOutput).describe('Prompts, newest first.');
export type PromptOutput = z.infer<typeof promptOutput>;

export const promptDetailOutput = promptOutput
  .extend({ versions: z.array(promptVersionOutput).describe('All versions, newest first.') })
  .meta({ id: 'PromptDetail', description: 'A saved prompt with all of its versions.' });
export type PromptDetailOutput = z.infer<typeof promptDetailOutput>;

export const renderedPromptOutput = z
  .object({
    rendered_content: z.string().describe('The active version with every placeholder filled.'),
    version_used: z.int().describe('Number of the version.'),
    prompt_version_id: uuid('Id of the version, for the header `X-Gateway-Prompt-Version` of a call.'),
    unused_variables: z
      .array(z.string())
      .describe('Names that were supplied and that the content has no placeholder for.'),
  })
  .meta({ id: 'RenderedPrompt', description: 'A rendered prompt.' });
export type RenderedPromptOutput = z.infer<typeof renderedPromptOutput>;

export const promptActivationOutput = z
  .object({
    from_version: z.int().describe('Number of the version that was active before.'),
    to_version: z.int().describe('Number of the version that became active.'),
    by: uuid('Id of the account that moved it.'),
    at: timestamp('Time of the move.'),
  })
  .meta({ id: 'PromptActivation', description: 'A move of the active version.' });
export const promptActivationsOutput = z.array(promptActivationOutput).describe('Moves, newest first.');
export type PromptActivationOutput = z.infer<typeof promptActivationOutput>;

export const diffPartOutput = z
  .object({
    kind: z.enum(['same', 'added', 'removed']).describe('In both versions, or in the second or first alone.'),
    text: z.string().describe('The text, to the letter.'),
  })
  .meta({ id: 'PromptDiffPart', description: 'A run of text in a diff.' });
export type DiffPartOutput = z.infer<typeof diffPartOutput>;

export const promptDiffOutput = z
  .object({
    from_version: z.int().describe('Number of the version that the diff starts from.'),
    to_version: z.int().describe('Number of the version that it leads to.'),
    content: z
      .array(diffPartOutput)
      .describe(
        'Word by word. Without what was added it is the first content, without what was removed the second.',
      ),
    added_variables: z.array(z.string()).describe('Variables that only the second declares.'),
    removed_variables: z.array(z.string()).describe('Variables that only the first declares.'),
    changed_variables: z.array(z.string()).describe('Variables of both with another description or default.'),
    config_changed: z.boolean().describe('Whether model or parameters differ.'),
  })
  .meta({ id: 'PromptDiff', description: 'What changed between two versions of a prompt.' });
export type PromptDiffOutput = z.infer<typeof promptDiffOutput>;

export const versionStatsOutput = z
  .object({
    version_id: uuid('Id of the version.'),
    version: z.int().describe('Its number.'),
    window_days: z.int().describe('As asked for.'),
    requests: z.int().describe('Calls that named the version.'),
    errors: z.int().describe('Those of them that ended with an error.'),
    error_rate: z.number().describe('Errors per call, 0 to 1.'),
    error_rate_low: z.number().describe('Lower end of its 95 % interval (Wilson).'),
    error_rate_high: z.number().describe('Upper end of its 95 % interval (Wilson).'),
    p50_latency_ms: z.int().describe('Half of the calls took at most so many milliseconds; 0 without calls.'),
    p95_latency_ms: z.int().describe('95 % of the calls took at most so many milliseconds; 0 without calls.'),
    input_tokens: z.int().describe('Tokens in.'),
    output_tokens: z.int().describe('Tokens out.'),
    cost_usd: decimal('What the calls cost in dollars.'),
  })
  .meta({ id: 'PromptVersionStats', description: 'What happened with calls that named a version.' });
export type VersionStatsOutput = z.infer<typeof versionStatsOutput>;

export const versionComparisonOutput = z
  .object({
    first: versionStatsOutput.describe('The one version.'),
    second: versionStatsOutput.describe('The other.'),
    fewer_errors: z
      .enum(['first', 'second', 'inconclusive'])
      .describe('Which has the lower error rate; inconclusive while the intervals overlap.'),
  })
  .meta({ id: 'PromptVersionComparison', description: 'Two versions side by side.' });
export type VersionComparisonOutput = z.infer<typeof versionComparisonOutput>;
