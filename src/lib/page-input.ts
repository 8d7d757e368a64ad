import { z } from 'zod';
import { wholeInput } from './input-fields.js';

/** A whole number: text in a query string, a number in GraphQL. */
export const integerInput = (min: number, max: number) =>
  z.preprocess(
    (value) => (typeof value === 'string' && /^-?\d{1,40}$/.test(value) ? Number(value) : value),
    wholeInput(min, max),
  );

/** Paging of every list: `limit` from 1 to 500, `offset` from 0. */
export const pageInput = z.strictObject({
  limit: integerInput(1, 500).default(50).describe('Number of entries to return, 1 to 500.'),
  offset: integerInput(0, Number.MAX_SAFE_INTEGER).default(0).describe('Number of entries to skip.'),
});

export type PageInput = z.output<typeof pageInput>;
