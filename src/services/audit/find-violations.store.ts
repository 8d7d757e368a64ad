import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { invariants } from './audit.store.js';
import type { Invariant } from './invariant.js';

export interface Finding {
  invariant: Invariant;
  /** 0 when the invariant holds. */
  violations: number;
  /** Some of the rows concerned. */
  subjects: string[];
}

const SAMPLE = 5;

/** Checks every invariant, in the caller's transaction. */
export async function findViolations(em: EntityManager): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const invariant of invariants) {
    const { rows } = await sql<{ violations: string; subjects: string[] | null }>`
      with found as materialized (${sql.raw(invariant.sql)})
      select (select count(*) from found) as violations,
        (select array_agg(subject::text) from (select subject from found limit ${sql.lit(SAMPLE)}) sample) as subjects`.execute(
      em.getKysely(),
    );
    const { violations, subjects } = rows[0]!;
    findings.push({ invariant, violations: Number(violations), subjects: subjects ?? [] });
  }
  return findings;
}
