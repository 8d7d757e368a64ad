import type { Pool } from 'pg';
import { auditAll } from '../../src/services/audit/audit.service.js';

/** Only jobs deliver alerts, and test files share a platform without jobs for longer than a delivery may take. */
const OF_JOBS = 'I12-pending';

/**
 * Checks the product's invariants. Returns each violation with up to five rows; empty if all hold.
 * @param jobs False if no jobs process runs.
 */
export async function checkInvariants(pool: Pool, { jobs = true } = {}): Promise<string[]> {
  const { violated } = await auditAll(async (statement) => (await pool.query(statement)).rows);
  return violated
    .filter(({ invariant }) => jobs || invariant.name !== OF_JOBS)
    .map(({ invariant, subjects }) => `${invariant.name}: ${subjects.join(', ')}`);
}
