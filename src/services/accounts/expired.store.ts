import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { DAY_MS } from './accounts.rules.js';
import { KNOWN_NETWORK_DAYS } from './login-limits.rules.js';

/**
 * Removes what no check looks at any more: ended sessions whose token has run out by itself, failed logins older than a
 * day (their window is 15 minutes), counts of networks whose window has ended, and networks that an account hasn't used
 * for long.
 * @returns how many rows went: of sessions, and of limits.
 */
export async function deleteExpired(
  em: EntityManager,
  nowMs: number,
): Promise<{ sessions: number; limits: number }> {
  const db = em.getKysely();
  const ago = (ms: number): Date => new Date(nowMs - ms);
  const sessions = await sql`delete from ended_sessions where expires_at < ${ago(0)}`.execute(db);
  const limits = [
    await sql`delete from login_failures where created_at < ${ago(DAY_MS)}`.execute(db),
    await sql`delete from network_counts where ends_at < ${ago(0)}`.execute(db),
    await sql`delete from known_networks where last_success_at < ${ago(KNOWN_NETWORK_DAYS * DAY_MS)}`.execute(
      db,
    ),
  ];
  const rows = ({ numAffectedRows = 0n }: { numAffectedRows?: bigint | undefined }): number =>
    Number(numAffectedRows);
  return { sessions: rows(sessions), limits: limits.reduce((sum, result) => sum + rows(result), 0) };
}
