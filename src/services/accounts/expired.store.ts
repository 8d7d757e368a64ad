import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Removes what no check looks at any more: ended sessions whose token has run out by itself, and failed logins
 * older than a day (their window is 15 minutes).
 */
export async function deleteExpired(
  em: EntityManager,
  nowMs: number,
): Promise<{ sessions: number; loginFailures: number }> {
  const db = em.getKysely();
  const sessions = await sql`
    delete from ended_sessions where expires_at < ${new Date(nowMs).toISOString()}`.execute(db);
  const failures = await sql`
    delete from login_failures where created_at < ${new Date(nowMs - DAY_MS).toISOString()}`.execute(db);
  return {
    sessions: Number(sessions.numAffectedRows ?? 0),
    loginFailures: Number(failures.numAffectedRows ?? 0),
  };
}
