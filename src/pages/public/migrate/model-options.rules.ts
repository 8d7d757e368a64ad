import { escaped } from '../../../lib/html.js';

/** Names of models by provider. */
type KnownModels = readonly (readonly [provider: string, names: readonly string[]])[];

/** Suggestions for a model of a provider, as options of a list: names of others would be priced as something else. */
export const modelOptions = (known: KnownModels, provider: string): string =>
  (known.find(([name]) => name === provider)?.[1] ?? [])
    .map((name) => `<option value="${escaped(name)}"></option>`)
    .join('');
