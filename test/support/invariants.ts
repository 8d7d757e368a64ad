import type { Pool } from 'pg';
import { invariants } from '../../src/services/audit/audit.store.js';

/** Only jobs deliver alerts. Test files share a platform without jobs for longer than a delivery may take. */
const OF_JOBS = 'I12-pending';

/**
 * Runs the product's own invariants; the answer names each violation with up to five rows and is empty when all hold.
 * @param jobs false where no jobs run beside what is tested
 */
export async function checkInvariants(pool: Pool, { jobs = true } = {}): Promise<string[]> {
  const violations: string[] = [];
  for (const { name, sql } of invariants) {
    if (!jobs && name === OF_JOBS) continue;
    const { rows } = await pool.query<{ subject: unknown }>(
      `select subject::text from (${sql}) found limit 5`,
    );
    if (rows.length > 0) violations.push(`${name}: ${rows.map((row) => row.subject).join(', ')}`);
  }
  return violations;
}
