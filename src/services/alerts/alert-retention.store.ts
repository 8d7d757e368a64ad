import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { monthsBefore } from '../../lib/clock.js';

/** Rows per statement, so that nobody waits for long. */
const BATCH = 2_000;
/** Daily limits look back 24 hours. */
const MAILS_KEPT = sql`interval '2 days'`;

/**
 * Deletes events that ended more than `months` months ago, and emails that no longer count toward limits. Firings
 * stay: a percentage never fires twice in a month.
 */
export async function deleteOldAlerts(
  em: EntityManager,
  nowMs: number,
  months: number,
): Promise<{ events: number; mails: number }> {
  const db = em.getKysely();
  const before = monthsBefore(nowMs, months);
  let events = 0;
  for (let batch = BATCH; batch === BATCH; events += batch) {
    // Ids begin with their creation time, so the primary key finds the oldest.
    const deleted = await sql`
      delete from alert_events where id in (
        select id from alert_events
        where id < ${firstIdOf(before.getTime())} and finished_at < ${before}
        order by id limit ${BATCH})`.execute(db);
    batch = Number(deleted.numAffectedRows ?? 0);
  }
  const mails = await sql`delete from alert_mails where admitted_at < now() - ${MAILS_KEPT}`.execute(db);
  return { events, mails: Number(mails.numAffectedRows ?? 0) };
}

/** The smallest possible UUIDv7 of this millisecond. */
function firstIdOf(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
