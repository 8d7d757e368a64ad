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
  /** Names of the functions that were created or replaced. */
  applied: string[];
  /** Names of the functions that a later build created, which were left alone. */
  newer: string[];
}

/** The functions of this build. */
const OURS: FunctionSet = { revision: FUNCTIONS_REVISION, functions };

const hashOf = ({ sql: text }: SqlFunction): string => createHash('sha256').update(text).digest('hex');

/**
 * Creates or replaces each function whose text differs from this build's, in the caller's transaction and under its lock. The
 * comment on a function keeps the hash of its text and the revision, so that an earlier build that starts later leaves the
 * functions of a later build alone.
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
