import type { z } from 'zod';
import { AppError } from '../errors.js';
import { zodFieldIssues } from '../lib/field-issues.js';
import { snakeCased } from './case.js';

/**
 * Checks an input by the schema that REST uses as well.
 * @throws AppError `validation_error` with the fields that are wrong.
 */
export function checked<Schema extends z.ZodType>(schema: Schema, input: object): z.output<Schema> {
  const result = schema.safeParse(snakeCased(input));
  if (result.success) return result.data;
  throw new AppError('validation_error', { details: zodFieldIssues(result.error) });
}

/** Arguments of a query without those that are null: they mean the same as absent ones. */
export const given = (args: object): object =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
