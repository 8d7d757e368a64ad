import { escaped } from '../../../lib/html.js';

/** Names of models by provider. */
type KnownModels = readonly (readonly [provider: string, names: readonly string[]])[];

/**
 * Suggestions of a provider's models, as options of a list. Only this provider's, since other names would get the
 * wrong price.
 */
export const modelOptions = (known: KnownModels, provider: string): string =>
  (known.find(([name]) => name === provider)?.[1] ?? [])
    .map((name) => `<option value="${escaped(name)}"></option>`)
    .join('');
