/**
 * A function in the database as this build wants it. The text is a TypeScript string and no file of its own, so that the
 * compiler and the bundler carry it like every other source: a process reads no file beside its bundle.
 */
export interface SqlFunction {
  /** Without its arguments: no other function has the name. */
  name: string;
  /** `create or replace function …`, one statement. */
  sql: string;
}
