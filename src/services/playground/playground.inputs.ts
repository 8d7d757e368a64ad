import { z } from 'zod';
import { fitsCharacters } from '../../lib/characters.js';
import { isPlain, NOT_PLAIN } from '../../lib/input-fields.js';
import { pageInput } from '../../lib/page-input.js';

export const PROMPT_CHARACTERS = 50_000;
export const MODELS_PER_SESSION = 4;
/** Of the answer. */
export const MAX_TOKENS = { most: 4_096, default: 1_024 } as const;

const text = z
  .string()
  .refine(isPlain, NOT_PLAIN)
  .refine((value) => fitsCharacters(value, PROMPT_CHARACTERS), 'must have at most 50,000 characters')
  .meta({ maxLength: PROMPT_CHARACTERS });

const prompt = text
  .refine((value) => value.trim() !== '', 'must not be empty')
  .describe('Prompt sent to every model, 1 to 50,000 characters.');

const systemPrompt = text
  .nullish()
  .transform((value) => value || null)
  .describe('System prompt, up to 50,000 characters.');

const fraction = (most: number) => {
  const error = `must be a number from 0 to ${most}`;
  return z.number(error).min(0, error).max(most, error).nullish();
};
const TOKENS = `must be a whole number from 1 to ${MAX_TOKENS.most}`;

export const runParametersInput = z
  .strictObject({
    temperature: fraction(2).describe("Sampling temperature, 0 to 2. Defaults to the model's own."),
    max_tokens: z
      .int(TOKENS)
      .min(1, TOKENS)
      .max(MAX_TOKENS.most, TOKENS)
      .nullish()
      .describe('Maximum output tokens per run, 1 to 4,096. Defaults to 1,024.'),
    top_p: fraction(1).describe("Nucleus sampling, 0 to 1. Defaults to the model's own."),
  })
  .meta({ id: 'PlaygroundParameters', description: 'Sampling parameters of a session.' });

const MODELS = 'must name 1 to 4 models';

export const runPlaygroundInput = z
  .strictObject({
    prompt,
    system_prompt: systemPrompt,
    models: z
      .array(z.string().min(1, 'must be the public name of a model').max(200), MODELS)
      .min(1, MODELS)
      .max(MODELS_PER_SESSION, MODELS)
      .refine((names) => new Set(names).size === names.length, 'must not name a model twice')
      .describe('Public names of 1 to 4 different chat models of your plan.'),
    parameters: runParametersInput.nullish().describe('Sampling parameters.'),
  })
  .meta({ id: 'RunPlayground', description: 'A prompt and the models to run it on.' });
export type RunPlaygroundInput = z.output<typeof runPlaygroundInput>;

/** Any text: a malformed id gets the same 404 as an unknown one. */
export const playgroundParams = z.object({ id: z.string().describe('Session ID.') });
export const slugParams = z.object({ slug: z.string().describe('Slug from the public URL.') });

export const listPlaygroundInput = pageInput.extend({
  shared: z
    .stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive', error: 'must be true or false' })
    .optional()
    .describe('`true` returns only shared sessions, `false` only unshared ones. Returns both by default.'),
});

export const sharePlaygroundInput = z
  .strictObject({
    rotate: z
      .boolean('must be true or false')
      .nullish()
      .describe('Whether to create a new public URL. The previous one stops working immediately.'),
  })
  .nullish()
  .meta({ id: 'SharePlayground', description: 'How to share a session. Optional.' });

export const cancelPlaygroundInput = z
  .strictObject({
    run_id: z
      .string()
      .nullish()
      .describe('ID of the run to cancel. By default, all unfinished runs of the session are cancelled.'),
  })
  .nullish()
  .meta({ id: 'CancelPlayground', description: 'What to cancel. Optional.' });
