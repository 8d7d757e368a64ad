import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { DAY_MS, monthsBefore } from '../../lib/clock.js';
import { REFUSED_IDS_DAYS } from '../refusals/refusals.rules.js';

/** Rows per statement, so that nobody waits for long. */
const BATCH = 5_000;

/**
 * Deletes counts of refused calls older than `months` months, and ids older than 30 days.
 * @returns the number of deleted rows.
 */
export async function removeOldRefusals(em: EntityManager, nowMs: number, months: number): Promise<number> {
  const before = monthsBefore(nowMs, months);
  let removed = 0;
  for (let batch = BATCH; batch === BATCH; removed += batch) {
    const { numAffectedRows } = await sql`
      delete from refused_call_hours where ctid = any(array(
        select ctid from refused_call_hours where hour < ${before} limit ${BATCH}))`.execute(em.getKysely());
    batch = Number(numAffectedRows ?? 0);
  }
  const idsBefore = new Date(nowMs - REFUSED_IDS_DAYS * DAY_MS);
  for (let batch = BATCH; batch === BATCH; ) {
    const { numAffectedRows } = await sql`
      update refused_call_hours set ids = '{}' where ctid = any(array(
        select ctid from refused_call_hours where hour < ${idsBefore} and ids <> '{}' limit ${BATCH}))`.execute(
      em.getKysely(),
    );
    batch = Number(numAffectedRows ?? 0);
  }
  return removed;
}
