import type { GraphQLScalarType } from 'graphql';
import type { Complexity } from 'type-graphql';
import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root, Subscription } from 'type-graphql';
import type { z } from 'zod';
import { type Access, Allow } from './access.js';
import { type Camel, camelCased } from './case.js';
import type { GraphqlContext } from './context.js';
import { withNamedFaults } from './named-faults.js';
import { argsType, type Input, inputType, objectType, type Types } from './zod-fields.js';

type Class<Value = object> = abstract new () => Value;
type Type = Class | StringConstructor | GraphQLScalarType<unknown, unknown> | readonly [Class];

/** What a resolver returns for a type. */
type ValueOf<T> = T extends readonly [infer Item]
  ? ValueOf<Item>[]
  : T extends StringConstructor
    ? string
    : T extends GraphQLScalarType<unknown, infer Value>
      ? Value
      : T extends Class<infer Value>
        ? Value
        : never;
/** Services throw for missing objects; fields that may be absent are `nullable`. */
type Answer<T> = Promise<ValueOf<T> | null> | ValueOf<T> | null;

interface Texts {
  description: string | undefined;
  complexity?: Complexity;
}

interface FieldOptions<T, Shape extends z.ZodRawShape, Source> extends Texts {
  nullable?: true;
  /** The arguments: names, types, defaults and descriptions. */
  args?: z.ZodObject<Shape>;
  argTypes?: Types<Shape>;
  run(context: GraphqlContext, args: Input<Shape>, source: Source): Answer<T>;
}

type Decorator = (prototype: object, name: string) => void;

/** A resolver class with one method, as TypeGraphQL requires. */
function resolverOf(
  name: string,
  run: (context: GraphqlContext, args: never, source: never) => unknown,
  decorators: (Decorator | undefined)[],
  owner?: Class,
) {
  class Holder {}
  const { prototype } = Holder;
  Object.defineProperty(prototype, name, {
    value: (context: GraphqlContext, source: never, given: never) => run(context, given, source),
  });
  Ctx()(prototype, name, 0);
  Root()(prototype, name, 1);
  for (const decorate of decorators) decorate?.(prototype, name);
  (owner ? Resolver(() => owner as never) : Resolver())(Holder);
  return Holder;
}

const allowed =
  (access: Access, proof = false): Decorator =>
  (prototype, name) =>
    Allow(access, { proof })(prototype, name, {});

const argsOf = (schema: z.ZodObject | undefined, types: object = {}): Decorator | undefined => {
  if (!schema) return undefined;
  const ArgsClass = argsType(schema, types as Record<string, object>);
  return (prototype, name) => Args(() => ArgsClass)(prototype, name, 2);
};

const inputOf =
  (InputClass: Class, description: string): Decorator =>
  (prototype, name) =>
    Arg('input', () => InputClass as never, { description })(prototype, name, 2);

const optionsOf = ({ description, complexity, nullable = false }: Texts & { nullable?: boolean }) => ({
  description: description ?? '',
  nullable,
  ...(complexity !== undefined && { complexity }),
});

/** Declares a query: who may use it, its type, its arguments and one service call. */
export function query<const T extends Type, Shape extends z.ZodRawShape = Record<never, never>>(
  name: string,
  access: Access,
  type: T,
  options: FieldOptions<T, Shape, undefined>,
) {
  const declared = Query(() => type as never, optionsOf(options)) as Decorator;
  const args = options.args as z.ZodObject | undefined;
  return resolverOf(name, withNamedFaults(args, options.run), [
    allowed(access),
    declared,
    argsOf(args, options.argTypes),
  ]);
}

/** Declares a field that needs a query, on a type whose other fields come from a schema. */
export function field<
  Source extends object,
  const T extends Type,
  Shape extends z.ZodRawShape = Record<never, never>,
>(owner: Class<Source>, name: string, type: T, options: FieldOptions<T, Shape, Source>) {
  const declared = FieldResolver(() => type as never, optionsOf(options)) as Decorator;
  const args = options.args as z.ZodObject | undefined;
  return resolverOf(
    name,
    withNamedFaults(args, options.run),
    [declared, argsOf(args, options.argTypes)],
    owner,
  );
}

type PayloadOf<P> = P extends z.ZodObject ? Camel<z.output<P>> : ValueOf<P>;

interface MutationOptions<Shape extends z.ZodRawShape, Payload> {
  description: string;
  /** Its description becomes that of the input type. */
  input?: z.ZodObject<Shape>;
  inputTypes?: Types<Shape>;
  /** Short description of the argument. */
  argument?: string;
  /** The schema of the payload with its description, or its class if that has other fields as well. */
  payload: Payload;
  /** Whether it compares or sets a password. */
  proof?: true;
  run(
    context: GraphqlContext,
    input: Input<Shape>,
  ): Promise<PayloadOf<Payload> | null> | PayloadOf<Payload> | null;
}

const capitalized = (name: string): string => `${name[0]!.toUpperCase()}${name.slice(1)}`;

/** Declares a mutation with an input and a payload, which are named after it. */
export function mutation<
  Payload extends z.ZodObject | Class,
  Shape extends z.ZodRawShape = Record<never, never>,
>(
  name: string,
  access: Access,
  { description, input, inputTypes, argument = '', payload, proof, run }: MutationOptions<Shape, Payload>,
) {
  const made = capitalized(name);
  const Payload = typeof payload === 'function' ? payload : objectType(`${made}Payload`, payload);
  return resolverOf(name, withNamedFaults(input as z.ZodObject | undefined, run), [
    allowed(access, proof),
    Mutation(() => Payload as never, { description }) as Decorator,
    input && inputOf(inputType(`${made}Input`, input, inputTypes), argument),
  ]);
}

/** Declares a query whose only argument is an input type named after the query. */
export function queryWithInput<const T extends Type, Shape extends z.ZodRawShape>(
  name: string,
  access: Access,
  type: T,
  options: Texts & {
    input: z.ZodObject<Shape>;
    inputTypes?: Types<Shape>;
    argument: string;
    run(context: GraphqlContext, input: Input<Shape>): Answer<T>;
  },
) {
  const declared = Query(() => type as never, optionsOf(options)) as Decorator;
  const Input = inputType(`${capitalized(name)}Input`, options.input, options.inputTypes);
  return resolverOf(name, withNamedFaults(options.input as unknown as z.ZodObject, options.run), [
    allowed(access),
    declared,
    inputOf(Input, options.argument),
  ]);
}

/** Declares a subscription to a service's feed, with camelCase names. */
export function subscription<News, Shape extends z.ZodRawShape = Record<never, never>>(
  name: string,
  access: Access,
  type: Class<Camel<News>>,
  options: {
    description: string;
    args?: z.ZodObject<Shape>;
    argTypes?: Types<Shape>;
    subscribe(
      context: GraphqlContext,
      args: Input<Shape>,
    ): AsyncIterable<News> | Promise<AsyncIterable<News>>;
  },
) {
  const { description, args, argTypes, subscribe } = options;
  const declared = Subscription(() => type as never, {
    description,
    subscribe: ({ args: given, context }) => subscribe(context, given) as never,
  }) as Decorator;
  return resolverOf(name, (_context, _args, news: News) => camelCased(news), [
    allowed(access),
    declared,
    argsOf(args as z.ZodObject | undefined, argTypes),
  ]);
}
