import type { Random } from './random.js';

/** Texts that parsers, databases and templates stumble over, beside ordinary ones. */
export const NASTY = [
  '', ' ', '\u0000', '\ud800', '%00', '%c0%af', '../..', "' or 1=1 --", '"; drop table accounts; --', '{{7*7}}',
  '1e400', '-0', 'NaN', 'null', '__proto__', 'constructor', 'toString', '🔑', '\u202e', 'a'.repeat(300), '<script>',
  '01900000-0000-7000-8000-000000000000', 'gateway/fast', 'free', 'team', 'active', 'a@b.cc', '9'.repeat(40), '\\', '\r\nX: 1',
]; // biome-ignore format: a table
export const FIELDS = [
  'model', 'messages', 'stream', 'stream_options', 'include_usage', 'n', 'best_of', 'max_tokens', 'input', 'tools',
  'encoding_format', 'email', 'password', 'name', 'current_password', 'new_password', 'plan', 'status', 'role',
  'amount_usd', 'monthly_limit_usd', 'daily_limit_usd', 'limit', 'offset', 'search', '__proto__', 'constructor',
  'prototype', 'polluted', 'api_base', 'metadata', 'user_config', 'x'.repeat(200), '', '\u0000', 'user_id', 'balance',
]; // biome-ignore format: a table

/** Any JSON value. */
export function anyValue(random: Random, depth = 0): unknown {
  const kind = random.below(depth > 4 ? 6 : 10);
  if (kind < 3) return random.pick(NASTY);
  if (kind === 3) return random.pick([0, -1, 1, 1.5, 128, 129, 1e21, 2 ** 53, -1e-7, Number.MAX_VALUE]);
  if (kind === 4) return random.pick([true, false, null]);
  if (kind === 5)
    return random.pick(['gateway/fast', 'gateway/embed', [{ role: 'user', content: 'Hi' }], {}]);
  if (kind < 8) return Array.from({ length: random.below(4) }, () => anyValue(random, depth + 1));
  return Object.fromEntries(
    Array.from({ length: random.below(6) }, () => [random.pick(FIELDS), anyValue(random, depth + 1)]),
  );
}

/** What is used of JSON Schema in OpenAPI documents. */
export interface Schema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

const PIECES = ['a', 'B', '7', ' ', 'ü', '🔑', '-', '_', '"', '<b>', "'", '{{ x }}', '$', '\\u0000'];
const LONGEST_TEXT = 600;

/** A value that the schema allows, or all but. */
export function sample(random: Random, schema: Schema, depth = 0): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return random.pick(schema.enum);
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choices) return sample(random, random.pick(choices), depth);
  const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type;
  if (type === 'string') return text(random, schema);
  if (type === 'integer' || type === 'number') return number(random, schema, type === 'integer');
  if (type === 'boolean') return random.chance(0.5);
  if (type === 'null') return null;
  if (type === 'array') {
    const length = (schema.minItems ?? 0) + random.below(Math.min(4, (schema.maxItems ?? 4) + 1));
    return Array.from({ length }, () => sample(random, schema.items ?? {}, depth + 1));
  }
  if (type === 'object') return object(random, schema, depth);
  return anyValue(random, depth + 1);
}

function text(random: Random, { format, minLength = 0, maxLength = 40 }: Schema): string {
  if (format === 'email') return random.pick(['a@b.cc', 'fuzz+tag@example.com', 'A@B.CC', "o'x@e-x.org"]);
  if (format === 'uuid') return '01900000-0000-7000-8000-000000000000';
  if (format === 'date-time') return random.pick(['2026-11-21T08:55:57.123000Z', '2026-02-30T25:61:00Z']);
  if (format === 'uri')
    return random.pick(['http://127.0.0.1:1/x', 'https://example.com/', 'http://[::1]/', 'ftp://x']);
  const length = random.chance(0.2)
    ? random.pick([minLength, Math.min(maxLength, LONGEST_TEXT)])
    : minLength + random.below(Math.min(12, maxLength - minLength + 1));
  return Array.from({ length }, () => random.pick(PIECES)).join('');
}

function number(random: Random, { minimum = -1_000, maximum = 1_000 }: Schema, whole: boolean): number {
  if (random.chance(0.3)) return random.pick([minimum, maximum]);
  const value = minimum + random.next() * Math.min(maximum - minimum, 10_000);
  return whole ? Math.round(value) : Number(value.toFixed(random.below(14)));
}

function object(random: Random, schema: Schema, depth: number): Record<string, unknown> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const entries = Object.entries(properties)
    .filter(([name]) => required.includes(name) || random.chance(0.6))
    .map(([name, inner]): [string, unknown] => [name, sample(random, inner, depth + 1)]);
  if (typeof additionalProperties === 'object') {
    for (let n = random.below(3); n > 0; n--)
      entries.push([random.pick(FIELDS), sample(random, additionalProperties, depth + 1)]);
  }
  return Object.fromEntries(entries);
}

/** The value with one thing in it changed: another kind of value, one more, one less. */
export function spoiled(random: Random, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.1)) return anyValue(random);
  if (Array.isArray(value)) {
    if (value.length === 0 || random.chance(0.3)) return [...value, anyValue(random)];
    const at = random.below(value.length);
    return value.map((item: unknown, i) => (i === at ? spoiled(random, item) : item));
  }
  const entries = Object.entries(value);
  const at = random.below(entries.length || 1);
  const change = random.below(4);
  if (change === 0) entries.push([random.pick(FIELDS), anyValue(random)]);
  else if (change === 1) entries.splice(at, 1);
  else if (entries.length > 0) entries[at]![1] = spoiled(random, entries[at]![1]);
  return Object.fromEntries(entries);
}
