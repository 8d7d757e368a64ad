import type { Pool } from 'pg';
import { invariants } from '../../src/services/audit/audit.store.js';

/** Runs the product's own invariants; the answer names each violation with up to five rows and is empty when all hold. */
export async function checkInvariants(pool: Pool): Promise<string[]> {
  const violations: string[] = [];
  for (const { name, sql } of invariants) {
    const { rows } = await pool.query<{ subject: unknown }>(
      `select subject::text from (${sql}) found limit 5`,
    );
    if (rows.length > 0) violations.push(`${name}: ${rows.map((row) => row.subject).join(', ')}`);
  }
  return violations;
}
