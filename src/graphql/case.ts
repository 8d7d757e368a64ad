/**
 * Services use the snake_case of REST and the database; GraphQL's convention is camelCase. One rule translates names
 * both ways, so that no field is mapped by hand.
 */
type CamelName<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelName<Tail>>}`
  : Name;

/** The same value with camelCase names at all levels. */
export type Camel<T> = T extends readonly (infer Item)[]
  ? Camel<Item>[]
  : T extends object
    ? { [Name in keyof T as CamelName<Name>]: Camel<T[Name]> }
    : T;

export const camelName = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
/** `tokens30d` becomes `tokens_30d`; `p50Latency` becomes `p50_latency`. */
const snakeName = (name: string): string =>
  name
    .replace(/[a-z]\d+[a-z]/g, (word) => `${word[0]}_${word.slice(1)}`)
    .replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) =>
      item === undefined ? [] : [[rename(name), renamed(item, rename)]],
    ),
  );
}

/** The output of a service with camelCase names. */
export const camelCased = <T>(value: T): Camel<T> => renamed(value, camelName) as Camel<T>;

/** The same for a promise, such as a resolver's one service call. */
export const toGraphql = async <T>(output: Promise<T>): Promise<Camel<T>> => camelCased(await output);

/** The same as the only field of a payload. */
export const toGraphqlAs = async <Name extends string, T>(name: Name, output: Promise<T>) =>
  ({ [name]: await toGraphql(output) }) as { [Key in Name]: Camel<T> };

/** A GraphQL input with the names of a service. Omitted fields stay absent. */
export const snakeCased = (value: object): Record<string, unknown> =>
  renamed(value, snakeName) as Record<string, unknown>;
