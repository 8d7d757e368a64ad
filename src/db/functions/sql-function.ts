/**
 * A function in the database, as this build requires it. The SQL is a TypeScript string rather than a separate file, so that
 * the bundle contains it.
 */
export interface SqlFunction {
  /** Name without arguments; names are unique. */
  name: string;
  /** One statement, `create or replace function …`. */
  sql: string;
}
