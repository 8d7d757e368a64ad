import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { FUNCTIONS_REVISION } from './functions/revision.js';
import type { SqlFunction } from './functions/sql-function.js';
import { functions } from './functions.js';

export interface FunctionSet {
  revision: number;
  functions: readonly SqlFunction[];
}

export interface AppliedFunctions {
  /** Names of those that were made or replaced. */
  applied: string[];
  /** Names of those that a later build has made, and that were left as they are. */
  newer: string[];
}

/** What this build wants. */
const OURS: FunctionSet = { revision: FUNCTIONS_REVISION, functions };

const hashOf = ({ sql: text }: SqlFunction): string => createHash('sha256').update(text).digest('hex');

/**
 * Makes the functions of the database those of this build, in the caller's transaction and under its lock: each whose text
 * isn't the one that it was made of. The comment on the function keeps the text's hash and the revision, so that
 * an earlier build that starts later leaves alone what a later one has made.
 */
export async function applyFunctions(
  em: EntityManager,
  { revision, functions: wanted }: FunctionSet = OURS,
): Promise<AppliedFunctions> {
  const db = em.getKysely();
  const made = await sql<{ name: string; revision: number; hash: string }>`
    select proname as name, (regexp_match(comment, '^revision ([0-9]+),'))[1]::int as revision,
      (regexp_match(comment, 'sha256 ([0-9a-f]+)$'))[1] as hash
    from pg_proc cross join lateral obj_description(oid, 'pg_proc') as comment
    where pronamespace = current_schema()::regnamespace and comment like 'revision %'`.execute(db);
  const marks = new Map(made.rows.map((row) => [row.name, row]));
  const result: AppliedFunctions = { applied: [], newer: [] };
  for (const wish of wanted) {
    const mark = marks.get(wish.name);
    const hash = hashOf(wish);
    if (mark?.hash === hash) continue;
    if (mark && mark.revision > revision) {
      result.newer.push(wish.name);
      continue;
    }
    await sql.raw(wish.sql).execute(db);
    const comment = sql.lit(`revision ${revision}, sha256 ${hash}`);
    await sql`comment on function ${sql.id(wish.name)} is ${comment}`.execute(db);
    result.applied.push(wish.name);
  }
  return result;
}
