import { type Exchange, mapExchange, type Operation } from 'urql';

/**
 * Asks again for what a mutation has overtaken: a query that was under way when the mutation succeeded may have been read
 * before it, and the cache knows only of answers that are there already.
 * @param again repeats a query whose answer may be old.
 */
export function refreshOvertaken(again: (query: Operation) => void): Exchange {
  const underWay = new Set<number>();
  const overtaken = new Set<number>();
  return mapExchange({
    onOperation({ kind, key }) {
      if (kind === 'query') underWay.add(key);
      if (kind === 'teardown') {
        underWay.delete(key);
        overtaken.delete(key);
      }
    },
    onResult({ operation, error }) {
      if (operation.kind === 'mutation' && !error) for (const key of underWay) overtaken.add(key);
      if (operation.kind !== 'query') return;
      underWay.delete(operation.key);
      if (overtaken.delete(operation.key)) again(operation);
    },
  });
}
