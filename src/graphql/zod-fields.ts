import { ArgsType, Field, Float, ID, InputType, Int, InterfaceType, ObjectType } from 'type-graphql';
import { z } from 'zod';
import { type Camel, camelName } from './case.js';
import { DateTime, Decimal } from './scalars.js';

type Types<Shape> = { [Name in keyof Camel<Shape>]?: object };
type Output<Shape extends z.ZodRawShape> = Camel<z.output<z.ZodObject<Shape>>>;
/** The input type; for a schema that accepts `unknown` and narrows it, the output type. */
type Input<Shape extends z.ZodRawShape> = Camel<
  Given<z.input<z.ZodObject<Shape>>, z.output<z.ZodObject<Shape>>>
>;
type Given<In, Out> = {
  [Name in keyof In]: unknown extends In[Name] ? (Name extends keyof Out ? Out[Name] : never) : In[Name];
};

const FORMATS: Record<string, object> = { uuid: ID, decimal: Decimal, 'date-time': DateTime, int64: Float };

interface FieldOptions {
  description?: string | undefined;
  nullable?: boolean;
  defaultValue?: unknown;
}

/** The end of a pipe that callers see: its input, unless that only prepares the value. */
const givenTo = ({ in: first, out }: z.core.$ZodPipeDef): z.core.$ZodType =>
  first._zod.def.type === 'transform' ? out : first;

/** The scalar of a schema, or a list of one; undefined where the class has to name the type: enums and objects. */
function scalarOf(schema: z.core.$ZodType): object | undefined {
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
      const item = scalarOf(def.element);
      return item && [item];
    }
    case 'nullable':
    case 'optional':
    case 'default':
      return scalarOf(def.innerType);
    case 'pipe':
      return scalarOf(givenTo(def));
    default:
      return undefined;
  }
}

/** Description, nullability and default, which may stand inside one another. */
function optionsOf(schema: z.core.$ZodType): FieldOptions {
  const { description } = z.globalRegistry.get(schema) ?? {};
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const own = description === undefined ? {} : { description };
  switch (def.type) {
    case 'nullable':
    case 'optional':
      return { ...optionsOf(def.innerType), nullable: true, ...own };
    case 'default': {
      // To GraphQL, a default of null is the same as none.
      const defaultValue = def.defaultValue === null ? {} : { defaultValue: def.defaultValue };
      return { ...optionsOf(def.innerType), ...defaultValue, ...own };
    }
    case 'pipe':
      return { ...optionsOf(givenTo(def)), ...own };
    default:
      return own;
  }
}

/** The description of a field of a service's schema. */
export const descriptionOf = (schema: z.core.$ZodType): string => {
  const { description } = optionsOf(schema);
  if (description === undefined) throw new Error('a field has no description');
  return description;
};

function addFields(target: { prototype: object }, schema: z.ZodObject, types: Record<string, object>): void {
  for (const [snake, field] of Object.entries(schema.shape)) {
    const name = camelName(snake);
    const type = types[name] ?? scalarOf(field);
    const options = optionsOf(field);
    if (!type || !options.description) throw new Error(`${name} needs a type and a description for GraphQL`);
    Field(() => type as never, options)(target.prototype, name);
  }
}

/**
 * A base class with a GraphQL field for each field of a service's output. Names, types, nullability and descriptions
 * come from the schema that REST uses; `types` names the enums and classes, which a schema doesn't know.
 * @throws Error for a field without a description or a type.
 */
export function outputFields<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  types: Types<Shape> = {},
): abstract new () => Output<Shape> {
  @ObjectType()
  @InterfaceType()
  abstract class Fields {}
  addFields(Fields, schema, types as Record<string, object>);
  return Fields as never;
}

/** The same for an input or for arguments. */
export function inputFields<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  types: Types<Shape> = {},
): abstract new () => Input<Shape> {
  @InputType()
  @ArgsType()
  abstract class Fields {}
  addFields(Fields, schema, types as Record<string, object>);
  return Fields as never;
}
