import type { Pool } from 'pg';
import { invariants } from '../../src/services/audit/audit.store.js';

/** Only jobs deliver alerts, and test files share a platform without jobs for longer than a delivery may take. */
const OF_JOBS = 'I12-pending';

/**
 * Checks the product's invariants. Returns each violation with up to five rows; empty if all hold.
 * @param jobs False if no jobs process runs.
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
