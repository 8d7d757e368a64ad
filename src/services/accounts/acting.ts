import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { COMMAND_LINE_SESSION, type Viewer } from '../../context.js';
import { AppError } from '../../errors.js';
import { findLiveSession, type LiveSession } from './sessions.store.js';

/**
 * Locks the viewer's account until the transaction ends, and makes sure that their session still lives. A request may have
 * waited for seconds since it was authenticated: what ended its session meanwhile counts.
 * @throws AppError `unauthorized` when the session has ended, or the account was disabled or deleted
 */
export async function requireActing(em: EntityManager, viewer: Viewer): Promise<void> {
  await sql`select 1 from accounts where id = ${viewer.accountId} for no key update`.execute(em.getKysely());
  await requireLive(em, viewer);
}

/**
 * The same without a lock: call it once the transaction holds the locks that it waits for.
 * @throws AppError `unauthorized`
 */
export async function requireLive(em: EntityManager, viewer: Viewer): Promise<LiveSession> {
  const live = await findLiveSession(em, viewer);
  if (!live) throw new AppError('unauthorized');
  return live;
}

/**
 * Makes sure that an administrator still is one. Like `requireLive`, it belongs behind the locks.
 * @throws AppError `unauthorized`, `forbidden`
 */
export async function requireActingAdmin(em: EntityManager, viewer: Viewer): Promise<void> {
  if (viewer.sessionId === COMMAND_LINE_SESSION) return;
  const { role } = await requireLive(em, viewer);
  if (role !== 'admin') throw new AppError('forbidden');
}
