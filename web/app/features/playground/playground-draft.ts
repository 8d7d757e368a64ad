import { z } from 'zod';
import { MAX_TOKENS } from '../../../../src/services/playground/playground.inputs';
import type { RunPlaygroundInput, SessionPartsFragment } from '../../../generated/graphql';

/** The question as typed. */
export const questionFields = z.object({
  prompt: z.string(),
  systemPrompt: z.string(),
  /** Public names, in the order of the columns; null before the first choice. */
  models: z.array(z.string()).nullable(),
  temperature: z.string(),
  maxTokens: z.string(),
  topP: z.string(),
});
export type QuestionFields = z.infer<typeof questionFields>;

export const NO_QUESTION: QuestionFields = {
  prompt: '',
  systemPrompt: '',
  models: null,
  temperature: '',
  maxTokens: '',
  topP: '',
};

const typed = (value: number | null | undefined): string => (value == null ? '' : String(value));

/** The question of a session, to be repeated. */
export const questionOf = ({
  prompt,
  systemPrompt,
  models,
  parameters,
}: Pick<SessionPartsFragment, 'prompt' | 'systemPrompt' | 'models' | 'parameters'>): QuestionFields => ({
  prompt,
  systemPrompt: systemPrompt ?? '',
  models,
  temperature: typed(parameters.temperature),
  // The default isn't shown as if it had been typed.
  maxTokens: parameters.maxTokens === MAX_TOKENS.default ? '' : typed(parameters.maxTokens),
  topP: typed(parameters.topP),
});

/** An invalid number is left to the check, which names the bounds. */
const number = (value: string): number | null => (value.trim() === '' ? null : Number(value));

/** The question as input of the mutation. */
export const runInput = (fields: QuestionFields): RunPlaygroundInput => ({
  prompt: fields.prompt,
  systemPrompt: fields.systemPrompt || null,
  models: fields.models ?? [],
  parameters: {
    temperature: number(fields.temperature),
    maxTokens: number(fields.maxTokens),
    topP: number(fields.topP),
  },
});

/** The same with the names of REST, for the schema that pages share with the server. */
export const checkedQuestion = (fields: QuestionFields) => {
  const { prompt, systemPrompt, models, parameters } = runInput(fields);
  const { temperature = null, maxTokens = null, topP = null } = parameters ?? {};
  return {
    prompt,
    system_prompt: systemPrompt,
    models,
    parameters: { temperature, max_tokens: maxTokens, top_p: topP },
  };
};
