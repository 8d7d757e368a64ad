import { type CombinedError, type Exchange, mapExchange } from 'urql';

/**
 * What says that there is nothing to show, or nothing to this account. Whoever is signed out is led away from the page, unless
 * a secret keeps it (`ui/held-secret.ts`).
 */
const OVER = ['forbidden', 'not_found'];

const isOver = ({ graphQLErrors }: CombinedError): boolean =>
  graphQLErrors.some(({ extensions }) => OVER.includes(String(extensions.code)));

/**
 * Keeps what a page shows when a later answer doesn't come, or comes as an error: the header says of when it is, and the error
 * says why. Without this a refresh that fails would take the page away, with what is being typed on it and a key that is shown
 * once. What was said to be over doesn't come back with a later failure.
 */
export function keepKnown(): Exchange {
  const known = new Map<number, unknown>();
  return mapExchange({
    onResult(result) {
      const { operation, data, error } = result;
      if (operation.kind !== 'query') return undefined;
      if (error && isOver(error)) known.delete(operation.key);
      else if (error && known.has(operation.key)) return { ...result, data: known.get(operation.key) };
      if (data && !error) known.set(operation.key, data);
      return undefined;
    },
  });
}
