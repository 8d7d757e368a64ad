import { z } from 'zod';
import { AppError } from '../errors.js';
import { zodFieldIssues } from '../lib/field-issues.js';
import { snakeCased } from './case.js';

/**
 * Checks an input by the schema that REST uses as well.
 * @throws AppError `validation_error` with the fields that are wrong.
 */
export function checked<Schema extends z.ZodType>(schema: Schema, input: object): z.output<Schema> {
  const result = schema.safeParse(withoutNulls(schema, snakeCased(input)));
  if (result.success) return result.data;
  throw new AppError('validation_error', { details: zodFieldIssues(result.error) });
}

/**
 * Many clients send null for a field that they leave out, and GraphQL's types allow it for every optional field. Where null has
 * no meaning of its own, the field counts as absent.
 */
function withoutNulls(schema: z.ZodType, input: object): object {
  if (!(schema instanceof z.ZodObject)) return input;
  const shape = schema.shape as Record<string, z.ZodType>;
  const meansAbsent = (name: string): boolean => {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    return field ? field.safeParse(undefined).success && !field.safeParse(null).success : false;
  };
  return Object.fromEntries(
    Object.entries(input).filter(([name, value]) => value !== null || !meansAbsent(name)),
  );
}
