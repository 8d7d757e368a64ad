import { type CombinedError, type Exchange, mapExchange } from 'urql';

/**
 * Errors that mean there is nothing to show to this account. Signed-out users are led away from the page, unless a secret keeps
 * them on it (`ui/held-secret.ts`).
 */
const OVER = ['forbidden', 'not_found'];

const isOver = ({ graphQLErrors }: CombinedError): boolean =>
  graphQLErrors.some(({ extensions }) => OVER.includes(String(extensions.code)));

/**
 * Keeps the data of a page when a refresh fails: the header shows how old it is, and the error shows why. Otherwise a failed
 * refresh would take the page away, with typed text and a key that is shown once. Data that an answer has removed doesn't come
 * back with a later failure.
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
