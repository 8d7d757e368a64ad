import type { Chance } from './random.js';

/** Makes a value that fits a JSON schema, as a model with guided decoding would. */

type Schema = Record<string, unknown>;

/** Below this depth only what is required is made, so that recursive schemas end. */
const DEEP = 5;
const BOTTOMLESS = 40;
/** A schema of a line can ask for more than there is memory or time: beyond this all that is left is null. */
const MAX_CHARACTERS = 20_000;
/** And more than there is time for, though it says little: members copied and references followed. */
const MAX_STEPS = 20_000;
/** What each value counts beside its own characters. */
const VALUE_COST = 10;
const FORMATS: Record<string, string> = {
  'date-time': '2026-01-15T12:00:00Z',
  date: '2026-01-15',
  time: '12:00:00Z',
  email: 'simulator@example.com',
  uri: 'https://example.com/simulated',
  url: 'https://example.com/simulated',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  duration: 'P1D',
};

/** Which of several values of a keyword holds when all of them must. */
const STRICTER: Record<string, (...values: number[]) => number> = {
  minimum: Math.max,
  exclusiveMinimum: Math.max,
  maximum: Math.min,
  exclusiveMaximum: Math.min,
};
const NUMERIC = [...Object.keys(STRICTER), 'multipleOf'];
/** How many times a fraction is taken in search of a whole number. */
const MOST_TIMES = 1_000;

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

interface Making {
  root: Schema;
  chance: Chance;
  /** Words that strings are made of. */
  topics: readonly string[];
  /** Characters that may still be made. */
  left: number;
  /** Steps that may still be taken. */
  steps: number;
}

/** Counts work that leaves no character in the answer; whether there was still time for it. */
function works(making: Making, steps: number): boolean {
  making.steps -= steps;
  return making.steps >= 0;
}

/** Counts a text that goes into the answer; whether there was still room for it. */
function takes(making: Making, characters: number): boolean {
  making.left -= characters + VALUE_COST;
  return making.left >= 0;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function resolvePointer(root: Schema, reference: string): Schema {
  let at: unknown = root;
  for (const part of reference.replace(/^#\/?/, '').split('/').filter(Boolean)) {
    const name = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
    at =
      isSchema(at) && Object.hasOwn(at, name) ? at[name] : Array.isArray(at) ? at[Number(name)] : undefined;
  }
  return isSchema(at) ? at : {};
}

const sizeOf = (schema: Schema): number =>
  Object.keys(schema).length + (isSchema(schema.properties) ? Object.keys(schema.properties).length : 0);

/** Nothing in particular where there is no time left to put them together. */
function merged(schemas: readonly Schema[], making: Making): Schema {
  if (
    !works(
      making,
      schemas.reduce((sum, schema) => sum + sizeOf(schema), 0),
    )
  )
    return {};
  const all = Object.assign({}, ...schemas) as Schema;
  all.properties = Object.assign({}, ...schemas.map((schema) => schema.properties));
  all.required = schemas.flatMap((schema) => (Array.isArray(schema.required) ? schema.required : []));
  for (const [name, stricter] of Object.entries(STRICTER)) {
    const values = schemas.map((schema) => schema[name]).filter((value) => typeof value === 'number');
    if (values.length > 1) all[name] = stricter(...values);
  }
  return all;
}

/** How soon a branch ends: constants and plain types before references and containers. */
function weight(schema: Schema): number {
  if ('const' in schema || 'enum' in schema || schema.type === 'null') return 0;
  if ('$ref' in schema || 'anyOf' in schema || 'oneOf' in schema || 'allOf' in schema) return 3;
  return schema.type === 'object' || schema.type === 'array' ? 2 : 1;
}

function branchOf(branches: readonly Schema[], depth: number): Schema {
  if (depth < DEEP) return branches.find((branch) => branch.type !== 'null') ?? branches[0] ?? {};
  return [...branches].sort((left, right) => weight(left) - weight(right))[0] ?? {};
}

/** The schema with references, unions and intersections resolved to one plain schema. */
function plain(schema: Schema, making: Making, depth: number, nested = 0): Schema {
  let at = schema;
  for (let steps = 0; steps + nested < BOTTOMLESS && works(making, 1); steps++) {
    const { $ref, anyOf, oneOf, allOf, ...rest } = at;
    const union = [anyOf, oneOf].find((branches) => Array.isArray(branches)) as Schema[] | undefined;
    if (typeof $ref === 'string') at = merged([resolvePointer(making.root, $ref), rest], making);
    else if (Array.isArray(allOf)) {
      const { allOf: _done, ...others } = at;
      const parts = allOf.filter(isSchema).map((part) => plain(part, making, depth, nested + 1));
      at = merged([others, ...parts], making);
    } else if (union) at = merged([rest, branchOf(union.filter(isSchema), depth)], making);
    else return at;
  }
  return {};
}

function typeOf(schema: Schema, depth: number): string | undefined {
  if (typeof schema.type === 'string') return schema.type;
  if (Array.isArray(schema.type)) {
    const types = schema.type as string[];
    return depth >= DEEP && types.includes('null')
      ? 'null'
      : (types.find((type) => type !== 'null') ?? types[0]);
  }
  if (isSchema(schema.properties) && Object.keys(schema.properties).length > 0) return 'object';
  if ('items' in schema || 'prefixItems' in schema) return 'array';
  if (NUMERIC.some((name) => name in schema)) return 'number';
  return 'string';
}

/** What numbers must be multiples of; a half where any number will do. */
function stepOf(multipleOf: unknown, integer: boolean): number {
  const step = number(multipleOf) ?? 0;
  if (step <= 0) return integer ? 1 : 0.5;
  if (!integer || Number.isInteger(step)) return step;
  for (let times = 2; times <= MOST_TIMES; times++) {
    if (Math.abs(times * step - Math.round(times * step)) < 1e-9) return Math.round(times * step);
  }
  return 1;
}

interface Bound {
  at: number;
  /** Whether it is outside of the range itself. */
  excluded: boolean;
}

/** The stricter one of two bounds on the same side. Up to draft 4 the exclusive one is a flag of the other. */
function boundOf(schema: Schema, inclusive: 'minimum' | 'maximum', exclusive: string): Bound | undefined {
  const at = number(schema[inclusive]);
  const outside = schema[exclusive] === true ? at : number(schema[exclusive]);
  if (at === undefined && outside === undefined) return undefined;
  const strict = STRICTER[inclusive]!(at ?? outside!, outside ?? at!);
  return { at: strict, excluded: strict === outside };
}

function makeNumber(schema: Schema, chance: Chance, integer: boolean): number {
  const step = stepOf(schema.multipleOf, integer);
  const least = boundOf(schema, 'minimum', 'exclusiveMinimum');
  const most = boundOf(schema, 'maximum', 'exclusiveMaximum');
  const low = least?.at ?? Math.min(1, (most?.at ?? 100) - 10 * step);
  const high = most?.at ?? low + 99 * step;
  // Beyond these, readers take an integer for another one.
  const safe = integer ? Number.MAX_SAFE_INTEGER : Number.POSITIVE_INFINITY;
  let first = Math.ceil(Math.max(low, -safe) / step);
  let last = Math.floor(Math.min(high, safe) / step);
  if (least?.excluded && first * step <= low) first++;
  if (most?.excluded && last * step >= high) last--;
  // A range narrower than the step still has a middle.
  if (first > last || !Number.isFinite(last - first)) return integer ? Math.ceil(low) : low / 2 + high / 2;
  const value = chance.integer(first, last) * step;
  // Validators expect 0.3 for 3 times 0.1.
  return Number.isInteger(value) ? value : Number(value.toPrecision(15));
}

function makeString(schema: Schema, { chance, topics, left }: Making): string {
  const format = typeof schema.format === 'string' ? schema.format : '';
  if (format === 'uuid') {
    return `${chance.hex(8)}-${chance.hex(4)}-4${chance.hex(3)}-8${chance.hex(3)}-${chance.hex(12)}`;
  }
  if (Object.hasOwn(FORMATS, format)) return FORMATS[format]!;
  const low = Math.min(number(schema.minLength) ?? 0, left);
  const high = number(schema.maxLength) ?? Number.POSITIVE_INFINITY;
  let text = topics.length > 0 ? chance.pick(topics) : 'simulated';
  while (text.length < low) text += ' simulated';
  return text.slice(0, high);
}

function makeArray(schema: Schema, making: Making, depth: number): unknown[] {
  const prefix = Array.isArray(schema.prefixItems) ? schema.prefixItems.filter(isSchema) : [];
  const low = number(schema.minItems) ?? 0;
  const high = number(schema.maxItems) ?? Number.POSITIVE_INFINITY;
  const wanted = Math.min(
    Math.max(low, prefix.length, depth >= DEEP ? 0 : 2),
    high,
    making.left / VALUE_COST,
  );
  const items = isSchema(schema.items) ? schema.items : {};
  const all = Array.from({ length: wanted }, (_, index) => make(prefix[index] ?? items, making, depth + 1));
  if (schema.uniqueItems !== true) return all;
  const seen = new Map(all.map((item) => [JSON.stringify(item), item]));
  for (let tries = 0; seen.size < wanted && tries < 100; tries++) {
    const item = make(items, making, depth + 1);
    seen.set(JSON.stringify(item), item);
  }
  return [...seen.values()];
}

function makeObject(schema: Schema, making: Making, depth: number): Schema {
  const properties = isSchema(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required)
    ? schema.required.filter((name): name is string => typeof name === 'string')
    : [];
  if (!works(making, Object.keys(properties).length + required.length)) return {};
  const names = depth >= DEEP ? required : [...new Set([...Object.keys(properties), ...required])];
  return Object.fromEntries(
    names
      .filter((name) => takes(making, name.length))
      .map((name) => {
        const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
        return [name, make(isSchema(property) ? property : {}, making, depth + 1)];
      }),
  );
}

function make(schema: Schema, making: Making, depth: number): unknown {
  if (depth > BOTTOMLESS || !takes(making, 0)) return null;
  const at = plain(schema, making, depth);
  const choices = Array.isArray(at.enum) && at.enum.length > 0 ? at.enum : undefined;
  const fixed = 'const' in at ? at.const : choices && making.chance.pick(choices);
  if (fixed !== undefined) return takes(making, JSON.stringify(fixed).length) ? fixed : null;
  switch (typeOf(at, depth)) {
    case 'object':
      return makeObject(at, making, depth);
    case 'array':
      return makeArray(at, making, depth);
    case 'integer':
      return makeNumber(at, making.chance, true);
    case 'number':
      return makeNumber(at, making.chance, false);
    case 'boolean':
      return making.chance.next() < 0.5;
    case 'null':
      return null;
    default: {
      const text = makeString(at, making);
      return takes(making, text.length) ? text : null;
    }
  }
}

/**
 * A value that fits `schema`: types, enums, constants, bounds, required members, arrays, unions, references.
 * `sharing` is the number of values that share the size of an answer, and the time to make it.
 */
export function valueFor(schema: unknown, chance: Chance, topics: readonly string[], sharing = 1): unknown {
  const root = isSchema(schema) ? schema : {};
  return make(root, { root, chance, topics, left: MAX_CHARACTERS / sharing, steps: MAX_STEPS / sharing }, 0);
}
