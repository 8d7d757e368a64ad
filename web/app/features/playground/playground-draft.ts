import { z } from 'zod';
import { MAX_TOKENS } from '../../../../src/services/playground/playground.inputs';
import type { RunPlaygroundInput, SessionPartsFragment } from '../../../generated/graphql';

/** What is asked, as it is typed. */
export const questionFields = z.object({
  prompt: z.string(),
  systemPrompt: z.string(),
  /** Public names, in the order of the columns; null before any was chosen. */
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

/** What a session has asked, to be asked again. */
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
  // What a session has without being told isn't shown as a choice.
  maxTokens: parameters.maxTokens === MAX_TOKENS.default ? '' : typed(parameters.maxTokens),
  topP: typed(parameters.topP),
});

/** What is no number is left to the check, which names the bounds. */
const number = (value: string): number | null => (value.trim() === '' ? null : Number(value));

/** What is sent. */
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

/** The same with the names of REST, as the schema that pages share with the server checks it. */
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
