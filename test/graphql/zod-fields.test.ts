import 'reflect-metadata';
import { type GraphQLInputObjectType, GraphQLNonNull, GraphQLString } from 'graphql';
import { Arg, buildSchema, Query, Resolver } from 'type-graphql';
import { z } from 'zod';
import { inputType, outputFields } from '../../src/graphql/zod-fields.js';

const NEEDED = 'needs a type and a description for GraphQL';

describe('a GraphQL type made from a zod schema', () => {
  test('is refused when a field has no description', () => {
    expect(() => outputFields(z.object({ some_name: z.string() }))).toThrow(`someName ${NEEDED}`);
  });

  test('is refused when a field is an enum or an object without a registered GraphQL type', () => {
    const schema = z.object({ some_kind: z.enum(['a', 'b']).describe('Kind.') });
    expect(() => outputFields(schema)).toThrow(`someKind ${NEEDED}`);
    expect(() => outputFields(schema, { someKind: String })).not.toThrow();
    expect(() => outputFields(z.object({ inner: z.object({}).describe('Inner.') }))).toThrow(NEEDED);
  });
});

const prepared = z.object({
  trimmed: z
    .string()
    .nullish()
    .transform((value) => value || null)
    .describe('Trimmed.'),
  listed: z
    .array(z.string())
    .default([])
    .transform((list) => new Set(list))
    .describe('Listed.'),
  cleared: z.string().nullish().default(null).describe('Cleared.'),
});

const Prepared = inputType('Prepared', prepared);

@Resolver()
class Probe {
  @Query(() => String)
  probe(@Arg('input', () => Prepared) input: object): string {
    return String(input);
  }
}

test('a GraphQL input has the type that callers send, before a transformation, and no default of null', async () => {
  const schema = await buildSchema({ resolvers: [Probe], validate: false });
  const fields = (schema.getType('Prepared') as GraphQLInputObjectType).getFields();
  expect(fields.trimmed).toMatchObject({ type: GraphQLString, description: 'Trimmed.' });
  expect(fields.listed).toMatchObject({ defaultValue: [], description: 'Listed.' });
  expect(fields.listed?.type).toBeInstanceOf(GraphQLNonNull);
  expect(fields.cleared).toMatchObject({ type: GraphQLString, defaultValue: undefined });
});
