/**
 * A function in the database as this build requires it. The SQL is a TypeScript string and not a separate file, so that
 * compiler and bundler treat it like any other source: a process reads no file besides its bundle.
 */
export interface SqlFunction {
  /** Without its arguments, since names are unique. */
  name: string;
  /** `create or replace function …`, one statement. */
  sql: string;
}
