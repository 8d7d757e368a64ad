import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { COMMAND_LINE_SESSION, requireViewer, type ServiceContext, type Viewer } from '../../context.js';
import { AppError } from '../../errors.js';
import { type ActiveSession, findLiveSession } from './sessions.store.js';

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
export async function requireLive(em: EntityManager, viewer: Viewer): Promise<ActiveSession> {
  const live = await findLiveSession(em, viewer);
  if (!live) throw new AppError('unauthorized');
  return live;
}

/**
 * Changes objects of the viewer in a transaction. It locks the account before anything else, as do those who delete or disable
 * the account or change its password or role: they can't deadlock with it. Charges and other changes don't wait for it. The
 * session is checked last: a log-out takes no lock, and may have come while the transaction waited for an object.
 * @throws AppError `unauthorized` when the session has ended, or the account was disabled or deleted
 */
export async function writeAsViewer<Result>(
  context: ServiceContext,
  write: (em: EntityManager) => Promise<Result>,
): Promise<Result> {
  const viewer = requireViewer(context);
  return context.em.transactional(async (em) => {
    const { rows } = await sql`
      select 1 from accounts where id = ${viewer.accountId} and status = 'active' and deleted_at is null
      for key share`.execute(em.getKysely());
    if (rows.length === 0) throw new AppError('unauthorized');
    const result = await write(em);
    await requireLive(em, viewer);
    return result;
  });
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
