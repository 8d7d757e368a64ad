import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { monthsBefore, utcDay } from '../../lib/clock.js';

/** Rows per statement, so that nobody waits for long. */
const BATCH = 5_000;

/**
 * Deletes the daily usage of widgets, and the sites that asked for them, older than `months` months.
 * @returns the number of deleted rows.
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
