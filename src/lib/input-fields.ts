import { z } from 'zod';

// PostgreSQL would refuse NUL, which would be a 500; the others don't belong in a single line.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for them
const CONTROL = /[\u0000-\u001f\u007f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same
const CONTROL_IN_LINES = /[\u0000-\u0008\u000e-\u001f\u007f]/;

/** For descriptions of fields that use `label`. */
export const TRIMMED = 'Leading and trailing spaces are removed.';

/** A non-empty single line; surrounding spaces are trimmed. */
export const label = (maxLength: number) =>
  z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(maxLength)
    .refine(
      (text) => text.isWellFormed() && !CONTROL.test(text),
      'must be a single line without control characters',
    );

/** An id, converted to lower case as in the database. `words` is the error message. */
export const idInput = (words: string) => z.uuid(words).toLowerCase();

/** `must be a, b or c`. */
export const mustBeOneOf = (names: readonly string[]): string =>
  `must be ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;

/** The error of a required field: `is required` if it is missing, otherwise `words`. */
export const required = (words: string) => ({
  error: ({ input }: { input?: unknown }): string => (input === undefined ? 'is required' : words),
});

/** A whole number of a JSON body. */
export const wholeInput = (min: number, max: number) => {
  const words = `must be a whole number from ${min} to ${max}`;
  return z.int(words).min(min, words).max(max, words);
};

export const NOTHING_TO_CHANGE = 'there is nothing to change';

/** Whether a change has at least one field other than `expected` and `expected_…`. */
export const changesSomething = (change: object): boolean =>
  Object.entries(change).some(([name, value]) => value !== undefined && !/^expected(?:_|$)/.test(name));

/** For descriptions of `expected`. */
export const EXPECTED =
  'The values that your change is based on. If one of them has changed since, the request fails with 409 `changed_meanwhile` and changes nothing. Values that are left out may have changed. Without `expected`, the last change wins.';

/** Whether the database accepts a text. It refuses NUL and lone surrogates, which would be a 500. */
export const isStorable = (value: string): boolean => value.isWellFormed() && !value.includes('\0');

/**
 * Whether a text is storable and has no control characters other than white space, since JSON writes each with six bytes. Form feeds
 * and vertical tabs are allowed: texts from PDFs have them.
 */
export const isPlain = (value: string): boolean => isStorable(value) && !CONTROL_IN_LINES.test(value);
export const NOT_PLAIN = {
  error: ({ input }: { input?: unknown }): string => {
    const found = CONTROL_IN_LINES.exec(String(input));
    const words = 'must be text without control characters other than white space';
    if (!found) return words;
    const code = found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return `${words}: U+${code} is at position ${found.index}`;
  },
};

/** Plain text, which may have several lines. */
export const plainText = (minLength: number, maxLength: number) =>
  z.string().min(minLength).max(maxLength).refine(isPlain, NOT_PLAIN);

/** Text that the database accepts, which may have several lines. */
export const textInput = (minLength: number, maxLength: number) =>
  z.string().min(minLength).max(maxLength).refine(isStorable, 'must be text without NUL characters');
