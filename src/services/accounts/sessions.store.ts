import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { insertIfAbsent } from '../../db/insert-if-absent.js';
import { EndedSession } from '../../entities/accounts/ended-session.js';

export interface ActiveSession {
  email: string;
  role: 'user' | 'admin';
  /** Current version of the account, for the renewed token. */
  token_version: number;
}

/**
 * The one query of each authenticated request. The account must be active and the session not ended; the token must
 * have the account's current version or belong to the session that last changed the password.
 */
export async function findLiveSession(
  em: EntityManager,
  claims: { accountId: string; sessionId: string; tokenVersion: number },
): Promise<ActiveSession | undefined> {
  const { rows } = await sql<ActiveSession>`
    select email, role, token_version from accounts
    where id = ${claims.accountId} and status = 'active' and deleted_at is null
      and (token_version = ${claims.tokenVersion}
        or (surviving_session_id = ${claims.sessionId} and token_version > ${claims.tokenVersion}))
      and not exists (select 1 from ended_sessions where session_id = ${claims.sessionId})`.execute(
    em.getKysely(),
  );
  return rows[0];
}

/** Ends one session; the row is kept until all of its tokens have expired. */
export async function endSession(em: EntityManager, sessionId: string, expiresAt: Date): Promise<void> {
  await insertIfAbsent(em, EndedSession, { sessionId, expiresAt });
}
