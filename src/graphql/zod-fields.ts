import { ArgsType, Field, Float, ID, InputType, Int, InterfaceType, ObjectType } from 'type-graphql';
import { z } from 'zod';
import { type Camel, camelName } from './case.js';
import { DateTime, Decimal } from './scalars.js';

export type Types<Shape> = { [Name in keyof Camel<Shape>]?: object };
type Costs<Shape> = { [Name in keyof Camel<Shape>]?: number };
type Output<Shape extends z.ZodRawShape> = Camel<z.output<z.ZodObject<Shape>>>;
/** The input type; for a schema that accepts `unknown` and narrows it, the output type. */
export type Input<Shape extends z.ZodRawShape> = Camel<
  Given<z.input<z.ZodObject<Shape>>, z.output<z.ZodObject<Shape>>>
>;
type Given<In, Out> = {
  [Name in keyof In]: unknown extends In[Name] ? (Name extends keyof Out ? Out[Name] : never) : In[Name];
};

/** GraphQL types of schemas that have their own: enums and objects. */
const TYPES = new WeakMap<z.core.$ZodType, object>();

/** Registers the GraphQL type of a schema, so that types that contain the schema needn't name it. */
export const nameType = (schema: z.core.$ZodType, type: object): void => {
  TYPES.set(schema, type);
};

/** A schema that only got a new description has the type of the original. */
function namedType(schema: z.core.$ZodType): object | undefined {
  const { parent } = schema._zod;
  return TYPES.get(schema) ?? (parent && namedType(parent));
}

const FORMATS: Record<string, object> = { uuid: ID, decimal: Decimal, 'date-time': DateTime, int64: Float };

interface FieldOptions {
  description?: string | undefined;
  nullable?: boolean;
  defaultValue?: unknown;
  complexity?: number;
}

/** The side of a pipe that callers see: its input, unless that only prepares the value. */
export const givenTo = ({ in: first, out }: z.core.$ZodPipeDef): z.core.$ZodType =>
  first._zod.def.type === 'transform' ? out : first;

/** The type of a schema, or a list of it; undefined for an unregistered enum or object. */
function typeOf(schema: z.core.$ZodType): object | undefined {
  const named = namedType(schema);
  if (named) return named;
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const format = z.globalRegistry.get(schema)?.format ?? ('format' in def ? def.format : undefined);
  if (typeof format === 'string' && FORMATS[format]) return FORMATS[format];
  switch (def.type) {
    case 'string':
    case 'literal':
      return String;
    case 'boolean':
      return Boolean;
    case 'number':
      return format === 'safeint' ? Int : Float;
    case 'array': {
      const item = typeOf(def.element);
      return item && [item];
    }
    case 'nullable':
    case 'optional':
    case 'default':
      return typeOf(def.innerType);
    case 'pipe':
      return typeOf(givenTo(def));
    default:
      return undefined;
  }
}

/** Description, nullability and default, which may be nested. */
function optionsOf(schema: z.core.$ZodType): FieldOptions {
  const { description } = z.globalRegistry.get(schema) ?? {};
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const own = description === undefined ? {} : { description };
  switch (def.type) {
    case 'nullable':
    case 'optional':
      return { ...optionsOf(def.innerType), nullable: true, ...own };
    case 'default': {
      // In GraphQL, a default of null is the same as no default.
      const defaultValue = def.defaultValue === null ? {} : { defaultValue: def.defaultValue };
      return { ...optionsOf(def.innerType), ...defaultValue, ...own };
    }
    case 'pipe':
      return { ...optionsOf(givenTo(def)), ...own };
    default:
      return own;
  }
}

/** The description of a field in a service's schema. */
export const descriptionOf = (schema: z.core.$ZodType): string => {
  const { description } = optionsOf(schema);
  if (description === undefined) throw new Error('a field has no description');
  return description;
};

const descriptionIn = ({ description }: z.core.$ZodType & { description?: string | undefined }) =>
  description === undefined ? {} : { description };

function addFields(
  target: { prototype: object },
  schema: z.ZodObject,
  types: Record<string, object>,
  costs: Record<string, number> = {},
): void {
  for (const [snake, field] of Object.entries(schema.shape)) {
    const name = camelName(snake);
    const type = types[name] ?? typeOf(field);
    const options = optionsOf(field);
    if (!type || !options.description) throw new Error(`${name} needs a type and a description for GraphQL`);
    if (costs[name] !== undefined) options.complexity = costs[name];
    Field(() => type as never, options)(target.prototype, name);
  }
}

/**
 * A GraphQL type with a field for each field of a service's output. Names, types, nullability and descriptions come
 * from the schema that REST uses. `types` overrides types: with another scalar, or with an enum or object that wasn't
 * made from this schema. `costs` has the fields that cost more than a value.
 * @throws Error for a field without a description or a type.
 */
export function objectType<Shape extends z.ZodRawShape>(
  name: string,
  schema: z.ZodObject<Shape>,
  types: Types<Shape> = {},
  costs: Costs<Shape> = {},
): new () => Output<Shape> {
  return declaredType(ObjectType, name, schema, types, costs) as never;
}

/** The same for an input. */
export function inputType<Shape extends z.ZodRawShape>(
  name: string,
  schema: z.ZodObject<Shape>,
  types: Types<Shape> = {},
): new () => Input<Shape> {
  return declaredType(InputType, name, schema, types) as never;
}

/** Makes a class a type with `declare` and the fields of a schema, and registers it for that schema. */
function declaredType(
  declare: typeof ObjectType | typeof InputType,
  name: string,
  schema: z.ZodObject,
  types: object,
  costs: object = {},
): new () => object {
  class Fields {}
  Object.defineProperty(Fields, 'name', { value: name });
  declare(name, descriptionIn(schema))(Fields);
  addFields(Fields, schema, types as Record<string, object>, costs as Record<string, number>);
  nameType(schema, Fields);
  return Fields;
}

/** The same for the arguments of a field, which have no name. */
export function argsType(schema: z.ZodObject, types: Record<string, object>): new () => object {
  class Fields {}
  ArgsType()(Fields);
  addFields(Fields, schema, types);
  return Fields;
}

/** A class with the schema's fields, for interfaces to extend. */
export function outputFields<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  types: Types<Shape> = {},
): abstract new () => Output<Shape> {
  @InterfaceType()
  abstract class Fields {}
  addFields(Fields, schema, types as Record<string, object>);
  return Fields as never;
}
