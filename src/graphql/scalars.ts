import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';
import { isDecimal } from '../lib/money-input.js';

/** The format of decimals in responses. */
const DECIMAL = /^-?\d{1,24}(?:\.\d{1,12})?$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/** A decimal for a service, which validates it. A string stays a string, so that no digit is lost. */
function decimalInput(value: unknown): number | string {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'string' && isDecimal(value)) return value;
  throw new GraphQLError('Decimal must be a number or a decimal in a string, such as "12.50".');
}

/** Exact decimals: strings in responses; strings or numbers in inputs. */
export const Decimal = new GraphQLScalarType<number | string, string>({
  name: 'Decimal',
  description:
    'An exact decimal. Responses use a string with 6 to 12 decimal places, such as `"0.9999562"`; inputs accept a string or a number.',
  serialize(value) {
    if (typeof value === 'string' && DECIMAL.test(value)) return value;
    // Our own bug, reported as an internal error.
    throw new Error("the value isn't a decimal");
  },
  parseValue: decimalInput,
  parseLiteral(node) {
    if (node.kind === Kind.INT || node.kind === Kind.FLOAT) {
      return isDecimal(node.value) ? node.value : decimalInput(Number(node.value));
    }
    return decimalInput(node.kind === Kind.STRING ? node.value : undefined);
  },
});

function timestampInput(value: unknown): string {
  if (typeof value === 'string' && TIMESTAMP.test(value) && !Number.isNaN(Date.parse(value))) return value;
  throw new GraphQLError('DateTime must be a UTC time such as "2026-11-21T08:55:57.123000Z".');
}

/** Times in UTC, always with six decimals and Z. */
export const DateTime = new GraphQLScalarType<string, string>({
  name: 'DateTime',
  description: 'A UTC timestamp with microseconds, such as `"2026-11-21T08:55:57.123000Z"`.',
  serialize(value) {
    if (typeof value === 'string' && TIMESTAMP.test(value)) return value;
    throw new Error("the value isn't a timestamp");
  },
  parseValue: timestampInput,
  parseLiteral: (node) => timestampInput(node.kind === Kind.STRING ? node.value : undefined),
});
