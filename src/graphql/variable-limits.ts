import { documentError } from './errors.js';

/** Of all objects in the variables together: several times as many as any input has. */
const MOST_FIELDS = 2_000;
/** Most faults to report. graphql's execution has the same limit. */
export const MOST_FAULTS = 50;

/**
 * Refuses variables with more fields than any input. graphql includes the whole object in the message about each
 * unknown field, so time and memory would grow with the square of their number.
 * @throws GraphQLError
 */
export function refuseManyFields(variables: Record<string, unknown>): void {
  let fields = 0;
  // Not by recursion: JSON may be nested as deep as it is long.
  const left: unknown[] = [variables];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== 'object' || value === null) continue;
    const inner = Object.values(value);
    if (!Array.isArray(value)) fields += inner.length;
    if (fields > MOST_FIELDS) {
      throw documentError(`The variables have more than ${MOST_FIELDS} fields. No input has as many.`);
    }
    for (const one of inner) left.push(one);
  }
}
