import type { z } from 'zod';
import type { FieldIssue } from '../errors.js';
import { truncateUtf8 } from './truncate.js';

/** The part of a zod issue that names a field. */
export interface IssueLike {
  /** Path of the value from the root of the input. */
  path: readonly PropertyKey[];
  message: string;
  /** Set by `unrecognized_keys`, whose path is that of the surrounding object. */
  keys?: readonly string[];
}

/** Maximum number of errors in one response. */
const MAX_ISSUES = 100;
/** Field name of a fault that concerns the whole input. */
export const WHOLE_INPUT = 'body';

/** A fault that concerns the whole input. */
export const ofWholeInput = (message: string): FieldIssue[] => [{ field: WHOLE_INPUT, message }];

/** Formats a path in JSON or YAML, such as `tools[0].type`. */
export const placeOf = (path: readonly PropertyKey[]): string =>
  path
    .map((key, nth) => (typeof key === 'number' ? `[${key}]` : `${nth > 0 ? '.' : ''}${String(key)}`))
    .join('');

/**
 * One entry per field, so that a form can show each fault at its field. zod reports unknown fields under the surrounding object;
 * here each has an entry of its own.
 */
export function fieldIssues(issues: readonly IssueLike[]): FieldIssue[] {
  const all = issues.flatMap(({ path, message, keys }) => {
    if (keys)
      return keys.map((key) => ({ field: fieldName([...path, key]), message: 'is not a known field' }));
    return [{ field: fieldName(path), message: plainWords(message) }];
  });
  // zod repeats a message if two rules with the same words are broken.
  const different = new Map(all.map((issue) => [`${issue.field}\n${issue.message}`, issue])).values();
  return [...different].slice(0, MAX_ISSUES);
}

const BOUNDS: Record<string, string> = {
  '>=': 'at least',
  '<=': 'at most',
  '>': 'more than',
  '<': 'less than',
};
/** What the size of a type counts. */
const UNITS: Record<string, string> = { string: 'character', array: 'entry', set: 'entry', object: 'field' };

function counted(amount: string, unit: string): string {
  if (amount === '1') return `1 ${unit}`;
  return `${amount} ${unit === 'entry' ? 'entries' : `${unit}s`}`;
}

/** `must have at most 100 characters`, `must be at least 1`. */
function bound(what: string, sign: string, amount: string): string {
  const unit = UNITS[what];
  return unit ? `must have ${BOUNDS[sign]} ${counted(amount, unit)}` : `must be ${BOUNDS[sign]} ${amount}`;
}

function wrongType(expected: string, received: string): string {
  if (received === 'undefined') return 'is required';
  return expected === 'int' ? 'must be a whole number' : `must be of type ${expected}, not ${received}`;
}

/** Rewrites zod's own messages in plain words that follow the name of the field; keeps all others. */
export function plainWords(message: string): string {
  const [, what, sign, amount] =
    /^Too (?:big|small): expected (\w+) to (?:have|be) ([<>]=?)(\S+)/.exec(message) ?? [];
  if (what && sign && amount) return bound(what, sign, amount);
  const [, expected, received] = /^Invalid input: expected ([^,]+), received ([^,]+)$/.exec(message) ?? [];
  if (expected && received) return wrongType(expected, received);
  const [, options] = /^Invalid (?:option: expected one of|input: expected) (".+)$/.exec(message) ?? [];
  if (options) {
    const names = options.split('|').map((option) => option.replaceAll('"', ''));
    return names.length === 1 ? `must be ${names[0]}` : `must be one of ${names.join(', ')}`;
  }
  return message === 'Invalid input' ? 'is not valid' : message;
}

export function zodFieldIssues(error: z.ZodError): FieldIssue[] {
  return fieldIssues(error.issues as readonly IssueLike[]);
}

function fieldName(path: readonly PropertyKey[]): string {
  return path.length === 0 ? WHOLE_INPUT : truncateUtf8(path.map(String).join('.'));
}
