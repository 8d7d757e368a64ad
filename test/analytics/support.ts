import type { Pool } from 'pg';
import { rollUpUsage } from '../../src/services/analytics/rollups.service.js';
import { jobContext } from '../jobs/support.js';
import type { TestDatabase } from '../support/database.js';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** What the job does, at a time. */
export const rollUpAt = (db: TestDatabase, nowMs: number): Promise<number> =>
  rollUpUsage(jobContext(db.orm, nowMs).context);

/** Hours of the roll-ups with what they count, oldest first. */
export async function rolledHours(pool: Pool): Promise<{ hour: string; requests: number }[]> {
  const { rows } = await pool.query<{ hour: Date; requests: string }>(
    'select hour, sum(requests) as requests from usage_rollups group by hour order by hour',
  );
  return rows.map((row) => ({ hour: row.hour.toISOString(), requests: Number(row.requests) }));
}

export async function dirtyHours(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ hour: Date }>('select hour from rollup_dirty order by hour');
  return rows.map((row) => row.hour.toISOString());
}
