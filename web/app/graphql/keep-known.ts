import { type Exchange, mapExchange } from 'urql';

/**
 * Keeps what a page shows when a later answer doesn't come: the header says of when it is, and the error says why. Without
 * this a refresh that fails would take the page away, with what is being typed on it.
 */
export function keepKnown(): Exchange {
  const known = new Map<number, unknown>();
  return mapExchange({
    onOperation({ kind, key }) {
      if (kind === 'teardown') known.delete(key);
    },
    onResult(result) {
      const { operation, data, error } = result;
      if (operation.kind !== 'query') return undefined;
      if (data) known.set(operation.key, data);
      else if (error?.networkError && known.has(operation.key)) {
        return { ...result, data: known.get(operation.key) };
      }
      return undefined;
    },
  });
}
