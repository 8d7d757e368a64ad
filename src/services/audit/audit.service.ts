import { IsolationLevel } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { ServiceContext } from '../../context.js';
import { limitStatements } from '../../db/in-transaction.js';
import { patiently } from '../../db/patience.js';
import { invariants } from './audit.store.js';
import type { Invariant } from './invariant.js';

export interface Finding {
  invariant: Invariant;
  /** 0 when it holds. */
  violations: number;
  /** Some of the rows concerned. */
  subjects: string[];
}

const SAMPLE = 5;
/** It reads whole tables, and may take its time. */
const TIMEOUT_MS = 300_000;

/** Checks every invariant of the money on one snapshot. Each violation is logged as an error. */
export async function runAudit(context: ServiceContext): Promise<Finding[]> {
  const findings = await patiently(TIMEOUT_MS, () =>
    context.em.fork().transactional(findViolations, {
      isolationLevel: IsolationLevel.REPEATABLE_READ,
      readOnly: true,
    }),
  );
  for (const { invariant, violations, subjects } of findings) {
    if (violations === 0) continue;
    context.log.error(
      { invariant: invariant.name, guarantee: invariant.guarantee, violations, subjects },
      'a ledger invariant is violated',
    );
  }
  return findings;
}

async function findViolations(em: EntityManager): Promise<Finding[]> {
  const db = em.getKysely();
  await limitStatements(em, TIMEOUT_MS);
  const findings: Finding[] = [];
  for (const invariant of invariants) {
    const { rows } = await sql<{ violations: string; subjects: string[] | null }>`
      with found as materialized (${sql.raw(invariant.sql)})
      select (select count(*) from found) as violations,
        (select array_agg(subject::text) from (select subject from found limit ${sql.lit(SAMPLE)}) sample) as subjects`.execute(
      db,
    );
    const { violations, subjects } = rows[0]!;
    findings.push({ invariant, violations: Number(violations), subjects: subjects ?? [] });
  }
  return findings;
}
