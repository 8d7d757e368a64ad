import { IsolationLevel } from '@mikro-orm/core';
import type { ServiceContext } from '../../context.js';
import { limitStatements } from '../../db/in-transaction.js';
import { patiently } from '../../db/patience.js';
import { type Finding, findViolations } from './find-violations.store.js';

/** The audit reads whole tables. */
const TIMEOUT_MS = 300_000;

/** Checks all money invariants on one snapshot. Each violation is logged as an error. */
export async function runAudit(context: ServiceContext): Promise<Finding[]> {
  const findings = await patiently(TIMEOUT_MS, () =>
    context.em.fork().transactional(
      async (em) => {
        await limitStatements(em, TIMEOUT_MS);
        return findViolations(em);
      },
      { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true },
    ),
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
