import { registerEnumType } from 'type-graphql';
import type { z } from 'zod';
import { nameType } from './zod-fields.js';

/** A GraphQL enum with the values of a zod enum in capitals, each with its description. */
export function enumOf<Values extends Record<string, string>>(
  name: string,
  description: string,
  schema: z.ZodEnum<Values>,
  values: { [Value in Values[keyof Values]]: string },
): object {
  const entries = schema.options.map((value) => [value.toUpperCase(), value] as const);
  const enumObject = Object.fromEntries(entries);
  const valuesConfig = Object.fromEntries(
    entries.map(([key, value]) => [key, { description: values[value] }]),
  );
  registerEnumType(enumObject, { name, description, valuesConfig });
  nameType(schema, enumObject);
  return enumObject;
}
