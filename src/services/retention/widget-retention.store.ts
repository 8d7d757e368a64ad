import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { monthsBefore, utcDay } from '../../lib/clock.js';

/** Rows of one statement: nobody waits for long. */
const BATCH = 5_000;

/**
 * Removes what widgets used, and which sites asked them, on days of `months` months ago.
 * @returns how many rows went.
 */
export async function removeOldWidgetDays(em: EntityManager, nowMs: number, months: number): Promise<number> {
  const before = utcDay(monthsBefore(nowMs, months).getTime());
  let removed = 0;
  for (const table of [sql.table('widget_days'), sql.table('widget_site_days')]) {
    for (let batch = BATCH; batch === BATCH; removed += batch) {
      const { numAffectedRows } = await sql`
        delete from ${table} where ctid = any(array(
          select ctid from ${table} where day < ${before} limit ${BATCH}))`.execute(em.getKysely());
      batch = Number(numAffectedRows ?? 0);
    }
  }
  return removed;
}
