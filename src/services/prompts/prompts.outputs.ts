import { z } from 'zod';
import { count, decimal, timestamp, uuid } from '../../lib/output-fields.js';

export const promptVariableOutput = z
  .object({
    name: z.string().describe('Variable name.'),
    description: z.string().nullable().describe('Description.'),
    default: z.string().nullable().describe('Default value; null if every render must supply a value.'),
  })
  .meta({ id: 'PromptVariable', description: 'A declared variable of a prompt.' });
export type PromptVariableOutput = z.infer<typeof promptVariableOutput>;

export const promptConfigOutput = z
  .object({
    model_public_name: z.string().nullable().describe('Public name of a chat model.'),
    temperature: z.number().nullable().describe('Sampling temperature, 0 to 2.'),
    max_tokens: z.int().nullable().describe('Maximum output tokens.'),
    top_p: z.number().nullable().describe('Nucleus sampling, 0 to 1.'),
  })
  .meta({ id: 'PromptConfig', description: 'Model and parameters that a version is written for.' });

export const promptWarningOutput = z
  .object({
    code: z
      .enum(['undeclared_placeholder', 'unused_variable'])
      .describe('An undeclared placeholder, or an unused variable.'),
    name: z.string().describe('Name of the placeholder or variable.'),
    message: z.string().describe('The warning as text.'),
  })
  .meta({ id: 'PromptWarning', description: "A warning about a version. It doesn't prevent saving." });

export const promptVersionOutput = z
  .object({
    id: uuid('Version ID.'),
    version: z.int().describe('Version number, starting from 1.'),
    content: z.string().describe('Text with `{{ name }}` placeholders.'),
    variables: z.array(promptVariableOutput).describe('Declared variables.'),
    config: promptConfigOutput
      .nullable()
      .describe('Model and parameters that the version is written for, if any.'),
    notes: z.string().nullable().describe('Notes on what changed.'),
    warnings: z
      .array(promptWarningOutput)
      .describe('Undeclared placeholders, of which the first 20 are named, and unused variables.'),
    created_at: timestamp('Creation time.'),
  })
  .meta({ id: 'PromptVersion', description: 'A version of a prompt. Versions never change.' });
export type PromptVersionOutput = z.infer<typeof promptVersionOutput>;

export const promptOutput = z
  .object({
    id: uuid('Prompt ID.'),
    slug: z.string().describe('Identifier for URLs, unique within the account. It never changes.'),
    name: z.string().describe('Name.'),
    description: z.string().nullable().describe('Description.'),
    active_version_id: uuid('ID of the active version.'),
    active_version: promptVersionOutput.describe('The active version, which is the one rendered.'),
    version_count: z.int().describe('Number of versions.'),
    revision: z.int().describe('Increases with every change. Pass it as `expected_revision`.'),
    created_at: timestamp('Creation time.'),
    updated_at: timestamp('Time of the last change, including new versions.'),
  })
  .meta({ id: 'Prompt', description: 'A saved prompt with its active version.' });
export const promptsOutput = z.array(promptOutput).describe('Prompts, newest first.');
export type PromptOutput = z.infer<typeof promptOutput>;

export const promptDetailOutput = promptOutput
  .extend({ versions: z.array(promptVersionOutput).describe('All versions, newest first.') })
  .meta({ id: 'PromptDetail', description: 'A saved prompt with all its versions.' });

export const renderedPromptOutput = z
  .object({
    rendered_content: z.string().describe('Content of the active version with all placeholders replaced.'),
    version_used: z.int().describe('Version number.'),
    prompt_version_id: uuid('Version ID. Send it as the header `X-Gateway-Prompt-Version` of a call.'),
    unused_variables: z
      .array(z.string())
      .describe('Supplied names for which the content has no placeholder.'),
  })
  .meta({ id: 'RenderedPrompt', description: 'A rendered prompt.' });
export type RenderedPromptOutput = z.infer<typeof renderedPromptOutput>;

export const promptActivationOutput = z
  .object({
    from_version: z.int().describe('Number of the previously active version.'),
    to_version: z.int().describe('Number of the version that became active.'),
    by: uuid('ID of the account that activated it.'),
    at: timestamp('Activation time.'),
  })
  .meta({ id: 'PromptActivation', description: 'An activation of a version.' });
export const promptActivationsOutput = z.array(promptActivationOutput).describe('Activations, newest first.');
export type PromptActivationOutput = z.infer<typeof promptActivationOutput>;

export const diffPartOutput = z
  .object({
    kind: z
      .enum(['same', 'added', 'removed'])
      .describe(
        'Whether the text is in both versions (`same`), only in the second (`added`) or only in the first (`removed`).',
      ),
    text: z.string().describe('The exact text.'),
  })
  .meta({ id: 'PromptDiffPart', description: 'A piece of text in a diff.' });

export const promptDiffOutput = z
  .object({
    from_version: z.int().describe('Number of the first version.'),
    to_version: z.int().describe('Number of the second version.'),
    content: z
      .array(diffPartOutput)
      .describe(
        'The contents, compared word by word. Without the added parts it is the first content, without the removed parts the second.',
      ),
    added_variables: z.array(z.string()).describe('Variables that only the second version declares.'),
    removed_variables: z.array(z.string()).describe('Variables that only the first version declares.'),
    changed_variables: z.array(z.string()).describe('Variables whose description or default differs.'),
    config_changed: z.boolean().describe('Whether the model or parameters differ.'),
  })
  .meta({ id: 'PromptDiff', description: 'The differences between two versions of a prompt.' });
export type PromptDiffOutput = z.infer<typeof promptDiffOutput>;

export const versionStatsOutput = z
  .object({
    version_id: uuid('Version ID.'),
    version: z.int().describe('Version number.'),
    window_days: z.int().describe('Number of UTC days included.'),
    requests: count('Calls that used the version.'),
    errors: count('Calls that failed.'),
    error_rate: z.number().describe('Share of calls that failed, 0 to 1.'),
    error_rate_low: z
      .number()
      .describe('Lower bound of the 95% confidence interval (Wilson) of the error rate.'),
    error_rate_high: z
      .number()
      .describe('Upper bound of the 95% confidence interval (Wilson) of the error rate.'),
    p50_latency_ms: z.int().describe('Median latency of successful calls in milliseconds; 0 without any.'),
    p95_latency_ms: z
      .int()
      .describe('95th percentile of the latency of successful calls in milliseconds; 0 without any.'),
    input_tokens: count('Input tokens.'),
    output_tokens: count('Output tokens.'),
    cost_usd: decimal('Cost of the calls in US dollars.'),
  })
  .meta({ id: 'PromptVersionStats', description: 'Statistics of the calls that used a version.' });
export type VersionStatsOutput = z.infer<typeof versionStatsOutput>;

export const versionComparisonOutput = z
  .object({
    first: versionStatsOutput.describe('The first version.'),
    second: versionStatsOutput.describe('The second version.'),
    fewer_errors: z
      .enum(['first', 'second', 'inconclusive'])
      .describe(
        'The version with the lower error rate, or `inconclusive` if the confidence intervals overlap.',
      ),
  })
  .meta({ id: 'PromptVersionComparison', description: 'Statistics of two versions.' });
export type VersionComparisonOutput = z.infer<typeof versionComparisonOutput>;
