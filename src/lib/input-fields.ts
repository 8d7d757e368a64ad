import { z } from 'zod';

// NUL would be refused by PostgreSQL and answer 500; the others have no place in one line.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/;

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

/** A whole number of a JSON body. */
export const whole = (min: number, max: number) => {
  const words = `must be a whole number from ${min} to ${max}`;
  return z.int(words).min(min, words).max(max, words);
};

export const NOTHING_TO_CHANGE = 'there is nothing to change';

/** Whether a change has at least one field beside what it expects (`expected_…`). */
export const changesSomething = (change: object): boolean =>
  Object.entries(change).some(([name, value]) => value !== undefined && !name.startsWith('expected_'));

/** Text of any lines. NUL and halves of characters, which the database doesn't take, are refused. */
export const text = (minLength: number, maxLength: number) =>
  z
    .string()
    .min(minLength)
    .max(maxLength)
    .refine((value) => value.isWellFormed() && !value.includes('\0'), 'must be text without NUL characters');
