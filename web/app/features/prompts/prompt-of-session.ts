import type { SessionPartsFragment } from '../../../generated/graphql';
import { NO_VERSION, type VersionFields } from './version-fields';

const typed = (value: number | null | undefined): string => (value == null ? '' : String(value));

/** The first version of a prompt, from the question of a session of the model playground. */
export function promptOfSession(
  { prompt, systemPrompt, models, parameters }: SessionPartsFragment,
  model: string | undefined,
): VersionFields {
  return {
    ...NO_VERSION,
    content: systemPrompt ? `${systemPrompt}\n\n${prompt}` : prompt,
    config: {
      model: model ?? models[0] ?? '',
      temperature: typed(parameters.temperature),
      maxTokens: typed(parameters.maxTokens),
      topP: typed(parameters.topP),
    },
  };
}
