import { type Exchange, mapExchange, type Operation } from 'urql';
import { shownError } from './errors';

/**
 * Repeats queries that a mutation has overtaken: a query that was under way when the mutation succeeded may have been read
 * before it, and the cache only knows answers that have arrived. When a mutation is refused because something was changed
 * elsewhere, everything on the page may be old.
 * @param again repeats one query.
 */
export function refreshOvertaken(again: (query: Operation) => void): Exchange {
  const shown = new Map<number, Operation>();
  const underWay = new Set<number>();
  const overtaken = new Set<number>();
  return mapExchange({
    onOperation(operation) {
      const { kind, key } = operation;
      if (kind !== 'query') return;
      underWay.add(key);
      shown.set(key, operation);
    },
    onResult({ operation, error }) {
      if (operation.kind === 'mutation') {
        if (!error) for (const key of underWay) overtaken.add(key);
        else if (shownError(error).code === 'changed_meanwhile')
          for (const query of shown.values()) again(query);
      }
      if (operation.kind !== 'query') return;
      underWay.delete(operation.key);
      if (overtaken.delete(operation.key)) again(operation);
    },
  });
}
