import { z } from 'zod';
import { AppError } from '../errors.js';
import { zodFieldIssues } from '../lib/field-issues.js';
import { snakeCased } from './case.js';
import { givenTo } from './zod-fields.js';

/**
 * Checks an input with the schema that REST uses as well.
 * @throws AppError `validation_error` with the invalid fields.
 */
export function checked<Schema extends z.ZodType>(schema: Schema, input: object): z.output<Schema> {
  const result = schema.safeParse(withoutNulls(schema, snakeCased(input)));
  if (result.success) return result.data;
  throw new AppError('validation_error', { details: zodFieldIssues(result.error) });
}

/**
 * Many clients send null for omitted fields, and GraphQL allows it for every optional field, also within nested
 * objects. If null has no meaning of its own, the field counts as absent.
 */
function withoutNulls(schema: z.core.$ZodType, value: unknown): unknown {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
      return withoutNulls(def.innerType, value);
    case 'pipe':
      return withoutNulls(givenTo(def), value);
    case 'array':
      return Array.isArray(value) ? value.map((item) => withoutNulls(def.element, item)) : value;
    case 'object':
      return isObject(value) ? fieldsWithoutNulls(def.shape as Record<string, z.ZodType>, value) : value;
    default:
      return value;
  }
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function fieldsWithoutNulls(shape: Record<string, z.ZodType>, input: object): object {
  return Object.fromEntries(
    Object.entries(input).flatMap(([name, value]) => {
      const field = Object.hasOwn(shape, name) ? shape[name]! : undefined;
      if (!field) return [[name, value]];
      return value === null && meansAbsent(field) ? [] : [[name, withoutNulls(field, value)]];
    }),
  );
}

const meansAbsent = (field: z.ZodType): boolean =>
  field.safeParse(undefined).success && !field.safeParse(null).success;
