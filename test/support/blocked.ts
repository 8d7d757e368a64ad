import type { Pool, PoolClient } from 'pg';

/** Whether another session waits for a lock that this client holds. */
export async function isBlocking(pool: Pool, holder: PoolClient): Promise<boolean> {
  const { processID } = holder as unknown as { processID: number };
  const waiting = 'select 1 from pg_locks where not granted and $1 = any(pg_blocking_pids(pid))';
  return ((await pool.query(waiting, [processID])).rowCount ?? 0) > 0;
}
