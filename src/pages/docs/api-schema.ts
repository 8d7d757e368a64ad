import { escaped } from '../../lib/html.js';
import { prose, tableOf } from './html.js';
import { SCHEMAS, type Schema } from './openapi-types.js';

const linked = (name: string): string => `<a href="#schema-${escaped(name)}">${escaped(name)}</a>`;
const literal = (value: unknown): string => `<code>${escaped(JSON.stringify(value))}</code>`;

/** The type of a value in a few words, as HTML. */
export function typeWords(schema: Schema): string {
  if (schema.$ref) return linked(schema.$ref.slice(SCHEMAS.length));
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(' or ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map(typeWords))].join(' or ');
  if (schema.type === 'array' && schema.items) return `array of ${typeWords(schema.items)}`;
  const types = [schema.type ?? 'any'].flat().join(' or ');
  return escaped(schema.format ? `${types} (${schema.format})` : types);
}

/** Limits and default of a value, if the schema has any. */
function bounds(schema: Schema): string {
  const range = (least: number | undefined, most: number | undefined, what: string): string[] =>
    most === undefined || most >= Number.MAX_SAFE_INTEGER ? [] : [`${least ?? 0} to ${most}${what}`];
  const parts = [
    ...range(schema.minLength, schema.maxLength, ' characters'),
    ...range(schema.minimum, schema.maximum, ''),
    ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
  ];
  return parts.length === 0 ? '' : ` (${escaped(parts.join('; '))})`;
}

/** A member or parameter as a table row: name, type, meaning. */
export const row = (name: string, schema: Schema, isRequired: boolean, description = ''): string[] => [
  `<code>${escaped(name)}</code>${isRequired ? '' : ' <small>optional</small>'}`,
  typeWords(schema),
  prose(description || schema.description || '') + bounds(schema),
];

/** Members of a schema, with dots for those of inner objects; undefined without members. */
export function fieldsTable(schema: Schema): string | undefined {
  const rows: string[][] = [];
  const visit = ({ properties = {}, required = [] }: Schema, prefix: string): void => {
    for (const [name, field] of Object.entries(properties)) {
      rows.push(row(prefix + name, field, required.includes(name)));
      visit(field.items?.properties ? field.items : field, `${prefix}${name}${field.items ? '[]' : ''}.`);
    }
  };
  visit(schema, '');
  return rows.length === 0 ? undefined : tableOf(['name', 'type', 'meaning'], rows);
}
