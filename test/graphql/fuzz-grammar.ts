import {
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import { Random } from '../hostile/fuzz/random.js';

const NASTY_LITERALS = [
  'null',
  '-1',
  '0',
  '101',
  '2147483648',
  '1e400',
  '""',
  '"\\u0000"',
  '"\\uD800"',
  '"__proto__"',
  '"%00"',
  `"${'x'.repeat(300)}"`,
  '"""block"""',
  '[]',
  '[[1]]',
  '{}',
  '{ __proto__: 1 }',
  'true',
  'ACTIVE',
  '$v',
  '$missing',
  '"01900000-0000-7000-8000-000000000000"',
];
const NASTY_VALUES = [
  null,
  -1,
  0,
  Number.MAX_VALUE,
  Number.MAX_SAFE_INTEGER + 2,
  '',
  '\u0000',
  '\ud800',
  'x'.repeat(5_000),
  [],
  [[]],
  {},
  { constructor: { prototype: 1 } },
  true,
  'gateway/fast',
  '12.50',
];
/** What ends a session or an account would starve the rest of the run. */
const ENDING = /^(?:logout|deleteAccount|changePassword|signup|login)$/;

export interface FuzzedRequest {
  query: string;
  variables?: unknown;
  operationName?: unknown;
}

const pick = <T>(random: Random, list: readonly T[]): T => list[random.below(list.length)]!;

/** A request made by the rules of the schema, broken here and there. */
export function fuzzedRequest(schema: GraphQLSchema, random: Random): FuzzedRequest {
  const kind = pick(random, ['query', 'query', 'query', 'mutation', 'subscription'] as const);
  const root =
    kind === 'query'
      ? schema.getQueryType()
      : kind === 'mutation'
        ? schema.getMutationType()
        : schema.getSubscriptionType();
  const fragments: string[] = [];
  const body = selection(root!, random, 2 + random.below(5), fragments);
  const types = Object.values(schema.getTypeMap()).filter((type) => !isCompositeType(type));
  const variables = random.chance(0.4) ? `($v: ${typeText(pick(random, types), random)})` : '';
  let query = `${kind} ${random.chance(0.2) ? 'Name' : ''}${variables} ${body} ${fragments.join(' ')}`;
  for (let breaks = random.chance(0.4) ? random.below(3) + 1 : 0; breaks > 0; breaks--)
    query = broken(query, random);
  return {
    query,
    ...(random.chance(0.6) && {
      variables: random.chance(0.9) ? { v: pick(random, NASTY_VALUES) } : pick(random, NASTY_VALUES),
    }),
    ...(random.chance(0.1) && { operationName: pick(random, ['Name', '', 'x', null, 5, {}]) }),
  };
}

function typeText({ name }: GraphQLNamedType, random: Random): string {
  const text = random.chance(0.3) ? `[${name}]` : name;
  return random.chance(0.3) ? `${text}!` : text;
}

function selection(type: GraphQLObjectType, random: Random, depth: number, fragments: string[]): string {
  const fields = Object.values(type.getFields()).filter(({ name }) => !ENDING.test(name));
  const chosen = Array.from({ length: 1 + random.below(4) }, () => pick(random, fields));
  const parts = chosen.map((field) => {
    const alias = random.chance(0.15) ? `a${random.below(20)}: ` : '';
    const given = field.args.filter(() => random.chance(0.8));
    const args = given.map((argument) => `${argument.name}: ${value(argument.type, random, 3)}`);
    const directive = random.chance(0.1)
      ? pick(random, [' @skip(if: $v)', ' @include(if: true)', ' @unknown'])
      : '';
    const target = getNamedType(field.type);
    const inner =
      isObjectType(target) && depth > 0 ? ` ${selection(target, random, depth - 1, fragments)}` : '';
    return `${alias}${field.name}${args.length > 0 ? `(${args.join(', ')})` : ''}${directive}${inner}`;
  });
  if (random.chance(0.1)) {
    const name = `f${fragments.length}`;
    fragments.push(
      `fragment ${name} on ${type.name} { ...f${random.below(fragments.length + 2)} __typename }`,
    );
    parts.push(`...${name}`);
  }
  if (random.chance(0.1)) parts.push(`... on ${type.name} { __typename }`);
  return `{ ${parts.join(' ')} }`;
}

function value(type: GraphQLInputType, random: Random, depth: number): string {
  if (random.chance(0.35)) return pick(random, NASTY_LITERALS);
  const named = getNamedType(type);
  if (isEnumType(named)) return pick(random, named.getValues()).name;
  if (isInputObjectType(named) && depth > 0) {
    const fields = Object.values(named.getFields()).filter(() => random.chance(0.9));
    return `{ ${fields.map((field) => `${field.name}: ${value(field.type, random, depth - 1)}`).join(', ')} }`;
  }
  if (named.name === 'Int') return String(random.below(120));
  return named.name === 'Boolean' ? 'true' : '"text"';
}

/** Cuts, doubles, swaps or inserts a piece of the text. */
function broken(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  const to = Math.min(text.length, at + random.below(20));
  switch (random.below(4)) {
    case 0:
      return text.slice(0, at) + text.slice(to);
    case 1:
      return text.slice(0, to) + text.slice(at);
    case 2:
      return (
        text.slice(0, at) +
        pick(random, ['{', '}', '(', ')', '"', '"""', '\u0000', '#', '...', '@', '$', '😀', ':']) +
        text.slice(at)
      );
    default:
      return text.slice(0, at);
  }
}
