import 'reflect-metadata';
import { z } from 'zod';
import { outputFields } from '../../src/graphql/zod-fields.js';

const NEEDED = 'needs a type and a description for GraphQL';

describe('a GraphQL type made from a zod schema', () => {
  test('is refused when a field has no description', () => {
    expect(() => outputFields(z.object({ some_name: z.string() }))).toThrow(`someName ${NEEDED}`);
  });

  test('is refused when a field is an enum or an object and nobody named its GraphQL type', () => {
    const schema = z.object({ some_kind: z.enum(['a', 'b']).describe('Kind.') });
    expect(() => outputFields(schema)).toThrow(`someKind ${NEEDED}`);
    expect(() => outputFields(schema, { someKind: String })).not.toThrow();
    expect(() => outputFields(z.object({ inner: z.object({}).describe('Inner.') }))).toThrow(NEEDED);
  });
});
