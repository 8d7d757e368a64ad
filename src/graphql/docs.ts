import type { z } from 'zod';
import { type Camel, camelName } from './case.js';

interface Described {
  description?: string | undefined;
  unwrap?: () => Described;
}

/** A description may stand inside `nullable` and `optional`. */
function descriptionOf(schema: Described): string | undefined {
  return schema.description ?? schema.unwrap?.().description;
}

/**
 * Descriptions of the fields of a service's input or output, by their names in GraphQL: REST and GraphQL explain a
 * field with the same words, written once.
 * @throws Error for a field without one.
 */
export function fieldDocs<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
): { [Name in keyof Camel<Shape>]: string } {
  const entries = Object.entries(schema.shape).map(([name, field]) => {
    const description = descriptionOf(field as Described);
    if (!description) throw new Error(`the field ${name} has no description`);
    return [camelName(name), description];
  });
  return Object.fromEntries(entries);
}
