import type { z } from 'zod';
import { zodFieldIssues } from '../../../src/lib/field-issues';

/** How the server says of some fields that they are empty. */
const EMPTY = 'must have at least 1 character';

/** Messages are written to stand behind the name of a field; under it they begin a sentence. */
export function asSentence(message: string): string {
  if (message === EMPTY) return 'Must not be empty';
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
}

/** Checks a form by the schema that the server uses, in the server's words. For `validate` of a Mantine form. */
export function schemaErrors(schema: z.ZodType): (values: unknown) => Record<string, string> {
  return (values) => {
    const result = schema.safeParse(values);
    if (result.success) return {};
    const issues = zodFieldIssues(result.error);
    // The first of a field counts: object entries that come later would win.
    return Object.fromEntries(issues.reverse().map(({ field, message }) => [field, asSentence(message)]));
  };
}

/** What GraphQL refused, as sentences, by the names of fields that REST and the schemas use. */
export const refusedFields = (faults: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(faults).map(([name, fault]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      asSentence(fault),
    ]),
  );
