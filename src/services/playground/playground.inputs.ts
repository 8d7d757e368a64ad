import { z } from 'zod';

/** SPEC section 8. */
export const PROMPT_CHARACTERS = 50_000;
export const MODELS_PER_SESSION = 4;
/** CONTRACT.md, Environment. */
export const MAX_TOKENS = { most: 4_096, unlessTold: 1_024 } as const;

/** An emoji is one character, though two code units. */
function characters(text: string): number {
  if (text.length <= PROMPT_CHARACTERS) return text.length;
  let count = 0;
  for (const _character of text) count++;
  return count;
}

const text = z
  .string()
  .refine((value) => value.isWellFormed(), 'must be valid Unicode')
  .refine(
    // Whatever is longer than twice the bound in code units is longer than the bound in characters.
    (value) => value.length <= 2 * PROMPT_CHARACTERS && characters(value) <= PROMPT_CHARACTERS,
    'must have at most 50,000 characters',
  )
  .meta({ maxLength: PROMPT_CHARACTERS });

const prompt = text
  .refine((value) => value.trim() !== '', 'must not be empty')
  .describe('What every model is asked; 1 to 50,000 characters.');

const systemPrompt = text
  .nullish()
  .transform((value) => value || null)
  .describe('Instructions that stand before the prompt; at most 50,000 characters.');

const fraction = (most: number) => {
  const error = `must be a number from 0 to ${most}`;
  return z.number(error).min(0, error).max(most, error).nullish();
};
const TOKENS = `must be a whole number from 1 to ${MAX_TOKENS.most}`;

export const runParametersInput = z
  .strictObject({
    temperature: fraction(2).describe('Sampling temperature, 0 to 2. Left to the model unless given.'),
    max_tokens: z
      .int(TOKENS)
      .min(1, TOKENS)
      .max(MAX_TOKENS.most, TOKENS)
      .nullish()
      .describe('Most tokens that each run may generate, 1 to 4,096; 1,024 unless given.'),
    top_p: fraction(1).describe('Nucleus sampling, 0 to 1. Left to the model unless given.'),
  })
  .meta({ id: 'PlaygroundParameters', description: 'How the models of a session sample.' });

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
      .describe('Public names of 1 to 4 different chat models of the plan.'),
    parameters: runParametersInput.nullish().describe('How the models sample.'),
  })
  .meta({ id: 'RunPlayground', description: 'A prompt for the model playground and the models to ask.' });
export type RunPlaygroundInput = z.output<typeof runPlaygroundInput>;

/** Any text: an id that is malformed answers like one that isn't there. */
export const playgroundParams = z.object({ id: z.string().describe('Id of the session.') });
export const slugParams = z.object({ slug: z.string().describe('Last part of the public address.') });

export const listPlaygroundInput = z.strictObject({
  shared: z
    .stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive', error: 'must be true or false' })
    .optional()
    .describe('`true`: only sessions that are shared; `false`: only those that are not.'),
});

export const sharePlaygroundInput = z
  .strictObject({
    rotate: z
      .boolean('must be true or false')
      .nullish()
      .describe('Whether to make a new address. The one before stops working at once.'),
  })
  .nullish()
  .meta({ id: 'SharePlayground', description: 'How to share a session. May be left out.' });

export const cancelPlaygroundInput = z
  .strictObject({
    run_id: z
      .string()
      .nullish()
      .describe('The run to cancel; every unfinished run of the session unless given.'),
  })
  .nullish()
  .meta({ id: 'CancelPlayground', description: 'What to cancel. May be left out.' });
