import type { Chance } from './random.js';

/** Generates a value that fits a JSON schema, as a model with guided decoding would. */

type Schema = Record<string, unknown>;

/** Below this depth only required members are generated, so that recursive schemas end. */
const MAX_OPTIONAL_DEPTH = 5;
const MAX_DEPTH = 40;
/** A short schema can demand a huge value. Beyond this size the rest is null. */
const MAX_CHARACTERS = 20_000;
/** A short schema can also demand endless work. Limits members copied and references followed. */
const MAX_STEPS = 20_000;
/** Counted for each value in addition to its characters. */
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

/** Merges several values of a keyword that must all hold. */
const STRICTER: Record<string, (...values: number[]) => number> = {
  minimum: Math.max,
  exclusiveMinimum: Math.max,
  maximum: Math.min,
  exclusiveMaximum: Math.min,
};
const NUMERIC = [...Object.keys(STRICTER), 'multipleOf'];
/** Multiples of a fraction that are tried in search of a whole number. */
const MAX_MULTIPLES = 1_000;

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

interface Making {
  root: Schema;
  chance: Chance;
  /** Words for strings. */
  topics: readonly string[];
  /** Remaining characters. */
  left: number;
  /** Remaining steps. */
  steps: number;
}

/** Counts work that adds no characters. Returns whether the limit allows it. */
function spendSteps(making: Making, steps: number): boolean {
  making.steps -= steps;
  return making.steps >= 0;
}

/** Counts a text of the answer. Returns whether the limit allows it. */
function spendCharacters(making: Making, characters: number): boolean {
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

/** Merges schemas that must all hold; {} if no steps remain. */
function merged(schemas: readonly Schema[], making: Making): Schema {
  if (
    !spendSteps(
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

/** Rank of a branch by how soon it ends: constants and plain types before references and containers. */
function weight(schema: Schema): number {
  if ('const' in schema || 'enum' in schema || schema.type === 'null') return 0;
  if ('$ref' in schema || 'anyOf' in schema || 'oneOf' in schema || 'allOf' in schema) return 3;
  return schema.type === 'object' || schema.type === 'array' ? 2 : 1;
}

function branchOf(branches: readonly Schema[], depth: number): Schema {
  if (depth < MAX_OPTIONAL_DEPTH)
    return branches.find((branch) => branch.type !== 'null') ?? branches[0] ?? {};
  return [...branches].sort((left, right) => weight(left) - weight(right))[0] ?? {};
}

/** The schema with references, unions and intersections resolved to one plain schema. */
function plain(schema: Schema, making: Making, depth: number, nested = 0): Schema {
  let at = schema;
  for (let steps = 0; steps + nested < MAX_DEPTH && spendSteps(making, 1); steps++) {
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
    return depth >= MAX_OPTIONAL_DEPTH && types.includes('null')
      ? 'null'
      : (types.find((type) => type !== 'null') ?? types[0]);
  }
  if (isSchema(schema.properties) && Object.keys(schema.properties).length > 0) return 'object';
  if ('items' in schema || 'prefixItems' in schema) return 'array';
  if (NUMERIC.some((name) => name in schema)) return 'number';
  return 'string';
}

/** What numbers must be multiples of; 0.5 if any number will do. */
function stepOf(multipleOf: unknown, integer: boolean): number {
  const step = number(multipleOf) ?? 0;
  if (step <= 0) return integer ? 1 : 0.5;
  if (!integer || Number.isInteger(step)) return step;
  for (let times = 2; times <= MAX_MULTIPLES; times++) {
    if (Math.abs(times * step - Math.round(times * step)) < 1e-9) return Math.round(times * step);
  }
  return 1;
}

interface Bound {
  at: number;
  /** Whether the bound itself is excluded. */
  excluded: boolean;
}

/** The stricter of two bounds on one side. Up to draft 4, the exclusive bound is a flag of the inclusive one. */
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
  // Parsers round larger integers.
  const safe = integer ? Number.MAX_SAFE_INTEGER : Number.POSITIVE_INFINITY;
  let first = Math.ceil(Math.max(low, -safe) / step);
  let last = Math.floor(Math.min(high, safe) / step);
  if (least?.excluded && first * step <= low) first++;
  if (most?.excluded && last * step >= high) last--;
  // No multiple fits into the range: take its middle.
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
    Math.max(low, prefix.length, depth >= MAX_OPTIONAL_DEPTH ? 0 : 2),
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
  if (!spendSteps(making, Object.keys(properties).length + required.length)) return {};
  const names =
    depth >= MAX_OPTIONAL_DEPTH ? required : [...new Set([...Object.keys(properties), ...required])];
  return Object.fromEntries(
    names
      .filter((name) => spendCharacters(making, name.length))
      .map((name) => {
        const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
        return [name, make(isSchema(property) ? property : {}, making, depth + 1)];
      }),
  );
}

function make(schema: Schema, making: Making, depth: number): unknown {
  if (depth > MAX_DEPTH || !spendCharacters(making, 0)) return null;
  const at = plain(schema, making, depth);
  const choices = Array.isArray(at.enum) && at.enum.length > 0 ? at.enum : undefined;
  const fixed = 'const' in at ? at.const : choices && making.chance.pick(choices);
  if (fixed !== undefined) return spendCharacters(making, JSON.stringify(fixed).length) ? fixed : null;
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
      return spendCharacters(making, text.length) ? text : null;
    }
  }
}

/**
 * A value that fits `schema`: types, enums, constants, bounds, required members, arrays, unions, references.
 * `sharing` is the number of values that share the limits of one answer.
 */
export function valueFor(schema: unknown, chance: Chance, topics: readonly string[], sharing = 1): unknown {
  const root = isSchema(schema) ? schema : {};
  return make(root, { root, chance, topics, left: MAX_CHARACTERS / sharing, steps: MAX_STEPS / sharing }, 0);
}
