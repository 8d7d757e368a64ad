import type { GraphQLField, GraphQLSchema } from 'graphql';
import { defaultFieldResolver, getNullableType } from 'graphql';
import { Extensions } from 'type-graphql';
import { requireAdmin, requireViewer } from '../context.js';
import type { GraphqlContext } from './context.js';
import { createLoaders } from './loaders.js';

/** Who may use a root field. */
export type Access = 'public' | 'session' | 'admin';

/**
 * Declares who may use a query, mutation or subscription. Without it the process doesn't start. `proof` marks fields
 * that compare or set a password: a request may contain at most one of them.
 */
export const Allow = (access: Access, { proof = false } = {}): MethodDecorator & PropertyDecorator =>
  Extensions({ access, proof });

/** The declared access of a root field. */
export function accessOf(field: {
  extensions?: Readonly<Record<string, unknown>> | null;
}): Access | undefined {
  return field.extensions?.access as Access | undefined;
}

/** Names of the operations that need no session, queries first. */
export const openOperations = (schema: GraphQLSchema): string[] =>
  [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap((type) =>
    Object.values(type?.getFields() ?? {}).flatMap((field) =>
      accessOf(field) === 'public' ? [field.name] : [],
    ),
  );

/** Whether a root field compares or sets a password. */
export const provesIdentity = (
  field: { extensions?: Readonly<Record<string, unknown>> } | undefined,
): boolean => field?.extensions?.proof === true;

function guard(access: Access, { service }: GraphqlContext): void {
  if (access === 'admin') requireAdmin(service);
  else if (access === 'session') requireViewer(service);
}

/**
 * Guards every root field, as the rules of a route do for REST: denied by default. A query or mutation is nullable
 * whatever its resolver declares: it fails alone, and other fields of the operation still return data
 * (docs/decisions/0101).
 * @throws Error for a field that declares nothing.
 */
export function enforceAccess(schema: GraphQLSchema): GraphQLSchema {
  for (const [type, description] of [
    [schema.getQueryType(), 'Queries.'],
    [schema.getMutationType(), 'Mutations: one per action, each with its own input and payload.'],
    [schema.getSubscriptionType(), 'Subscriptions, served over WebSocket.'],
  ] as const) {
    if (type) type.description = description;
    for (const field of Object.values(type?.getFields() ?? {})) {
      const access = accessOf(field);
      if (!access) throw new Error(`${type!.name}.${field.name} doesn't declare who may access it`);
      guardField(field, access, type !== schema.getQueryType());
      if (type !== schema.getSubscriptionType()) field.type = getNullableType(field.type);
    }
  }
  return schema;
}

function guardField(
  field: Pick<GraphQLField<unknown, GraphqlContext>, 'resolve' | 'subscribe'>,
  access: Access,
  changesData: boolean,
): void {
  const { resolve = defaultFieldResolver, subscribe } = field;
  if (subscribe) {
    field.subscribe = (source, args, context, info) => {
      guard(access, context);
      return subscribe(source, args, context, info);
    };
  }
  field.resolve = (source, args, context, info) => {
    guard(access, context);
    // Data loaded before a mutation, or for an earlier event of a subscription, is outdated.
    if (changesData) context.loaders = createLoaders(context);
    return resolve(source, args, context, info);
  };
}
