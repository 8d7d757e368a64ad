import { chatSnippets, type SnippetTarget } from '../../../../src/services/migration/snippets.rules';

export const LANGUAGES = [
  { value: 'curl', label: 'curl' },
  { value: 'node', label: 'Node' },
  { value: 'python', label: 'Python' },
] as const;
export type Language = (typeof LANGUAGES)[number]['value'];

/** A first call, to paste into a terminal or a file. */
export const snippet = (language: Language, target: SnippetTarget): string =>
  chatSnippets(target)[language].trimEnd();

/** The model for a first call: a featured chat model of the plan. */
export function snippetModel(
  models: readonly { modelPublicName: string; family: string; isFeatured: boolean }[],
  allowed: readonly string[],
): string | undefined {
  const usable = models.filter(
    ({ modelPublicName, family }) => family !== 'embedding' && allowed.includes(modelPublicName),
  );
  return (usable.find(({ isFeatured }) => isFeatured) ?? usable[0])?.modelPublicName;
}
