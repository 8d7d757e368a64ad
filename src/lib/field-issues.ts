import type { z } from 'zod';
import type { FieldIssue } from '../errors.js';

/** The part of a zod issue that names a field. */
export interface IssueLike {
  /** Path of the value, from the root of the input. */
  path: readonly PropertyKey[];
  message: string;
  /** Set by `unrecognized_keys`, whose path is that of the object around them. */
  keys?: readonly string[];
}

/**
 * One entry per field, so that a form can show each fault where it belongs. zod reports unknown fields under the
 * object that holds them: here each is named itself.
 */
export function fieldIssues(issues: readonly IssueLike[]): FieldIssue[] {
  return issues.flatMap(({ path, message, keys }) => {
    if (keys)
      return keys.map((key) => ({ field: fieldName([...path, key]), message: 'is not a known field' }));
    return [{ field: fieldName(path), message: plain(message) }];
  });
}

/** zod's words for a wrong type, as a person would say it. */
function plain(message: string): string {
  const [, expected, received] = /^Invalid input: expected (.+), received (.+)$/.exec(message) ?? [];
  if (expected === undefined) return message;
  return received === 'undefined' ? 'is required' : `must be of type ${expected}, not ${received}`;
}

/** The faults of a `ZodError`. */
export function zodFieldIssues(error: z.ZodError): FieldIssue[] {
  return fieldIssues(error.issues as readonly IssueLike[]);
}

function fieldName(path: readonly PropertyKey[]): string {
  return path.length === 0 ? 'body' : path.map(String).join('.');
}
