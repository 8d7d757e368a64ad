import { z } from 'zod';
import {
  changesSomething,
  idInput,
  isPlain,
  isStorable,
  label,
  NOT_PLAIN,
  NOTHING_TO_CHANGE,
  plainText,
  TRIMMED,
  wholeInput,
} from '../../lib/input-fields.js';
import { integerInput, pageInput } from '../../lib/page-input.js';

export { sequenceConnectionInput, timeConnectionInput } from '../../lib/connection-input.js';
export { pageInput } from '../../lib/page-input.js';

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MAX_VARIABLES = 100;
const absent = null;

const variableName = z
  .string()
  .max(100)
  .regex(NAME, 'must be letters, digits and underscores, and not begin with a digit');

export const promptVariableInput = z
  .strictObject({
    name: variableName.describe(
      'Variable name: 1 to 100 letters, digits and underscores, not starting with a digit.',
    ),
    description: plainText(0, 500).nullish().default(absent).describe('Description, up to 500 characters.'),
    default: plainText(0, 10_000)
      .nullish()
      .default(absent)
      .describe('Default value, up to 10,000 characters. Without one, every render must supply a value.'),
  })
  .meta({ id: 'DeclaredPromptVariable', description: 'A variable declaration.' });

const variables = z
  .array(promptVariableInput)
  .max(MAX_VARIABLES)
  .superRefine((list, context) => {
    const seen = new Set<string>();
    for (const [index, { name }] of list.entries()) {
      if (seen.has(name)) {
        context.addIssue({ code: 'custom', message: 'is declared twice', path: [index, 'name'] });
      }
      seen.add(name);
    }
  });

const share = (most: number, words: string) => z.number(words).min(0, words).max(most, words);

export const promptConfigInput = z
  .strictObject({
    model_public_name: label(200).nullish().default(absent).describe('Public name of a chat model.'),
    temperature: share(2, 'must be 0 to 2')
      .nullish()
      .default(absent)
      .describe('Sampling temperature, 0 to 2.'),
    max_tokens: wholeInput(1, 1_000_000)
      .nullish()
      .default(absent)
      .describe('Maximum output tokens, 1 to 1,000,000.'),
    top_p: share(1, 'must be 0 to 1').nullish().default(absent).describe('Nucleus sampling, 0 to 1.'),
  })
  .meta({
    id: 'ChosenPromptConfig',
    description:
      "Model and parameters that a version is written for. They are advisory: rendering and `/v1` don't apply them.",
  });

const versionFields = {
  content: plainText(1, 50_000).describe('Text with `{{ name }}` placeholders; 1 to 50,000 characters.'),
  variables: variables
    .default([])
    .describe(
      'Declared variables, up to 100; with content and notes up to 100,000 characters. Every render must supply values for undeclared placeholders.',
    ),
  config: promptConfigInput
    .nullish()
    .default(absent)
    .describe('Model and parameters that the version is written for.'),
};
const notes = plainText(0, 2_000)
  .nullish()
  .default(absent)
  .describe('Notes on what changed, up to 2,000 characters.');
const name = label(255).describe(`Name, 1 to 255 characters. ${TRIMMED}`);
const description = plainText(0, 1_000).nullish().describe('Description, up to 1,000 characters.');

export const createPromptInput = z
  .strictObject({ name, description, ...versionFields, notes })
  .meta({ id: 'CreatePrompt', description: 'A new prompt with its first version.' });
export type CreatePromptInput = z.output<typeof createPromptInput>;

export const addPromptVersionInput = z
  .strictObject({ ...versionFields, notes })
  .meta({ id: 'AddPromptVersion', description: 'A new version of a prompt.' });
export type AddPromptVersionInput = z.output<typeof addPromptVersionInput>;

const MAX_REVISION = 2_147_483_647;
const EXPECTED =
  'The `revision` that your change is based on. If the prompt has changed since, the request fails with 409 `changed_meanwhile` and changes nothing. Without it, the last change wins.';

export const updatePromptInput = z
  .strictObject({
    name: name.optional(),
    description: description.describe('Description; null removes it.'),
    active_version_id: idInput('must be the id of a version')
      .optional()
      .describe('ID of the version to activate.'),
    expected_revision: z.int().min(1).max(MAX_REVISION).nullish().describe(EXPECTED),
  })
  .refine(changesSomething, NOTHING_TO_CHANGE)
  .meta({
    id: 'UpdatePrompt',
    description: 'Changes to a prompt. Omitted fields keep their value.',
    minProperties: 1,
  });
export type UpdatePromptInput = z.output<typeof updatePromptInput>;

/** For an activation or an undo. */
export const movePromptInput = z.strictObject({
  expected_revision: integerInput(1, MAX_REVISION).nullish().describe(EXPECTED),
});

const search = z
  .string()
  .trim()
  .max(100)
  .refine(isStorable, 'must be text')
  .nullish()
  .describe('Returns only prompts whose name, slug or description contains this text, ignoring case.');
export const listPromptsInput = pageInput.extend({ search });
export type ListPromptsInput = z.output<typeof listPromptsInput>;

/** Any text: unknown ids and slugs and those of other accounts get the same 404. */
export const promptParams = z.object({ id: z.string().describe('Prompt ID or slug.') });
export const promptVersionId = z.string().describe('Version ID.');
export const promptVersionParams = promptParams.extend({ vid: promptVersionId });

const textValue = z.string().refine(isPlain, NOT_PLAIN);
const value = z
  .union([textValue, z.number(), z.boolean()], 'must be a string, a number or true or false')
  .transform(String);

/** Own properties of any name, including `__proto__`, which zod's records drop. */
const renderValues = z
  .unknown()
  .meta({
    type: 'object',
    additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] },
  })
  .transform((given, context): Map<string, string> => {
    const values = new Map<string, string>();
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      context.issues.push({ code: 'custom', message: 'must be an object of names and values', input: given });
      return z.NEVER;
    }
    for (const [key, one] of Object.entries(given)) {
      const result = value.safeParse(one);
      if (result.success) values.set(key, result.data);
      else {
        const { message } = result.error.issues[0]!;
        context.issues.push({ code: 'custom', message, path: [key], input: one });
      }
    }
    return values;
  });

const VALUES =
  'Values by placeholder name. Strings are inserted unchanged; numbers and booleans as JSON writes them.';

export const renderPromptInput = z
  .strictObject({ variables: renderValues.optional().describe(VALUES) })
  .meta({ id: 'RenderPrompt', description: 'Values to render a prompt with.' });

export const promptValueInput = z
  .strictObject({
    name: z.string().max(200).describe('Placeholder name.'),
    value: textValue.describe('Value, inserted unchanged.'),
  })
  .meta({ description: 'A value for a placeholder.' });

/** A list for GraphQL, whose objects have no free names. The last value of a name counts. */
export const renderPromptListInput = z.strictObject({
  variables: z
    .array(promptValueInput)
    .max(1_000)
    .default([])
    .transform((list) => new Map(list.map(({ name, value }) => [name, value])))
    .describe('Values by placeholder name. A value takes precedence over the default.'),
});
export type RenderPromptInput = { variables?: ReadonlyMap<string, string> | undefined };

const versionNumber = integerInput(1, 2_147_483_647);
const windowDays = integerInput(1, 90)
  .default(30)
  .describe('Number of UTC days to include, counting today: 1 to 90.');

export const diffPromptInput = z.strictObject({
  from: versionNumber.describe('Version number to compare from.'),
  to: versionNumber.describe('Version number to compare to.'),
});
export type DiffPromptInput = z.output<typeof diffPromptInput>;

export const versionStatsInput = z.strictObject({ window_days: windowDays });
export type VersionStatsInput = z.output<typeof versionStatsInput>;

export const compareVersionsInput = z.strictObject({
  first: versionNumber.describe('Number of the first version.'),
  second: versionNumber.describe('Number of the second version.'),
  window_days: windowDays,
});
export type CompareVersionsInput = z.output<typeof compareVersionsInput>;
