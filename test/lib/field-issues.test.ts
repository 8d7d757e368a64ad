import { z } from 'zod';
import { plainWords, zodFieldIssues } from '../../src/lib/field-issues.js';
import { pageInput } from '../../src/lib/page-input.js';

const wordsOf = (schema: z.ZodType, value: unknown): string =>
  plainWords(schema.safeParse(value).error!.issues[0]!.message);

describe('the message of an invalid field', () => {
  test.each<[string, z.ZodType, unknown]>([
    ['must have at most 100 characters', z.string().max(100), 'x'.repeat(101)],
    ['must have at least 1 character', z.string().min(1), ''],
    ['must have at least 2 characters', z.string().min(2), 'x'],
    ['must have at least 1 entry', z.array(z.string()).min(1), []],
    ['must have at most 2 entries', z.array(z.string()).max(2), ['a', 'b', 'c']],
    ['must be at most 5', z.number().max(5), 6],
    ['must be at least 1', z.number().min(1), 0],
    ['must be more than 0', z.number().positive(), 0],
    ['must be less than 0', z.number().negative(), 0],
    ['must be at least -1.5', z.number().min(-1.5), -2],
    ['must be a whole number', z.int(), 1.5],
    ['must be one of active, disabled', z.enum(['active', 'disabled']), 'x'],
    ['must be function', z.literal('function'), 'x'],
    ['is required', z.array(z.string()), undefined],
    ['must be of type string, not number', z.string(), 1],
    ['is not valid', z.union([z.string(), z.number()]), true],
    ['as it was written', z.string().refine(() => false, 'as it was written'), 'x'],
  ])('reads: %s', (words, schema, value) => {
    expect(wordsOf(schema, value)).toBe(words);
  });

  test.each(['-1', '1.5', 'x', '9007199254740992', '9'.repeat(40)])(
    'names the bounds for offset=%s',
    (offset) => {
      expect(zodFieldIssues(pageInput.safeParse({ offset }).error!)).toEqual([
        { field: 'offset', message: 'must be a whole number from 0 to 9007199254740991' },
      ]);
    },
  );

  test('is absent for a valid offset of sixteen digits', () => {
    expect(pageInput.parse({ offset: '9000000000000000' }).offset).toBe(9_000_000_000_000_000);
  });
});
