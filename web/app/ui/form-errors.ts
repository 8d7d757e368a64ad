import type { z } from 'zod';
import { zodFieldIssues } from '../../../src/lib/field-issues';

/** The server's message for some empty fields. */
const EMPTY = 'must have at least 1 character';

/** Messages of the server follow the name of a field; below the field, they begin a sentence. */
export function asSentence(message: string): string {
  if (message === EMPTY) return 'Must not be empty';
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
}

/** Checks a form with the server's schema and messages. For `validate` of a Mantine form. */
export function schemaErrors(schema: z.ZodType): (values: unknown) => Record<string, string> {
  return (values) => {
    const result = schema.safeParse(values);
    if (result.success) return {};
    const issues = zodFieldIssues(result.error);
    // Reversed, so that the first message of a field wins.
    return Object.fromEntries(issues.reverse().map(({ field, message }) => [field, asSentence(message)]));
  };
}

/** The errors of GraphQL as sentences, by the field names of REST and the schemas. */
export const refusedFields = (faults: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(faults).map(([name, fault]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      asSentence(fault),
    ]),
  );
