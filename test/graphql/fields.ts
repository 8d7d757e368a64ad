import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isNonNullType,
  isObjectType,
} from 'graphql';

type Field = GraphQLField<unknown, unknown>;

/**
 * A field of the schema with a document that asks for it, and for nothing else that it doesn't have to. Plain fields of one
 * object share a document: whether somebody may see them is decided where the object comes from.
 */
export interface FieldDocument {
  /** `Viewer.email`, or `Viewer.email, name, role`. */
  name: string;
  kind: 'query' | 'mutation' | 'subscription';
  root: Field;
  document: string;
}

/** Literals for arguments, by the field or the path of an input: `ApiKey*.id` may be anybody's. */
export type Sample = (owner: string, argument: string) => string | undefined;

/**
 * One document for every field that can be reached, by the shortest way: what is tested of all of them is generated from
 * the schema, so that a new field is tested the day it comes.
 */
export function fieldDocuments(schema: GraphQLSchema, sample: Sample): FieldDocument[] {
  const found: FieldDocument[] = [];
  const plain = new Map<string, FieldDocument>();
  const seen = new Set<string>();
  const roots = [
    ['query', schema.getQueryType()],
    ['mutation', schema.getMutationType()],
    ['subscription', schema.getSubscriptionType()],
  ] as const;
  for (const [kind, type] of roots) {
    for (const root of Object.values(type!.getFields())) {
      const queue: { type: GraphQLObjectType; field: Field; path: string[] }[] = [
        { type: type!, field: root, path: [] },
      ];
      for (let next = queue.shift(); next; next = queue.shift()) {
        const name = `${next.type.name}.${next.field.name}`;
        if (seen.has(name)) continue;
        seen.add(name);
        const path = [...next.path, `${next.field.name}${argumentsOf(next.field, sample)}`];
        const target = getNamedType(next.field.type);
        const leaf = isCompositeType(target) ? ' { __typename }' : '';
        const document = `${kind} { ${path.join(' { ')}${leaf}${' }'.repeat(path.length)}`;
        const parent = `${kind} ${next.path.join(' ')}`;
        const shared = leaf === '' && next.path.length > 0 ? plain.get(parent) : undefined;
        if (shared) {
          shared.name += `, ${next.field.name}`;
          shared.document = shared.document.replace(/(?: \})+$/, ` ${path.at(-1)}$&`);
          continue;
        }
        const first = { name, kind, root, document };
        found.push(first);
        if (leaf === '' && next.path.length > 0) plain.set(parent, first);
        if (isObjectType(target)) {
          for (const field of Object.values(target.getFields())) queue.push({ type: target, field, path });
        }
      }
    }
  }
  return found;
}

function argumentsOf({ name, args }: Field, sample: Sample): string {
  const needed = args.filter(
    (argument) => isNonNullType(argument.type) && argument.defaultValue === undefined,
  );
  if (needed.length === 0) return '';
  return `(${needed.map((argument) => `${argument.name}: ${literal(name, argument, sample)}`).join(', ')})`;
}

function literal(
  owner: string,
  { name, type }: Pick<GraphQLArgument, 'name' | 'type'>,
  sample: Sample,
): string {
  const named = getNamedType(type);
  if (isInputObjectType(named)) {
    const fields = Object.values(named.getFields()).filter(
      (field) => isNonNullType(field.type) || sample(owner, field.name) !== undefined,
    );
    return `{ ${fields.map((field) => `${field.name}: ${literal(owner, field, sample)}`).join(', ')} }`;
  }
  if (isEnumType(named)) return named.getValues()[0]!.name;
  const given = sample(owner, name);
  if (given !== undefined) return given;
  if (named.name === 'Boolean') return 'true';
  return named.name === 'Int' ? '10' : '"sample"';
}
