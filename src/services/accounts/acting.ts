import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { COMMAND_LINE_SESSION, requireViewer, type ServiceContext, type Viewer } from '../../context.js';
import { AppError } from '../../errors.js';
import { type ActiveSession, findLiveSession } from './sessions.store.js';

/**
 * Locks the viewer's account until the transaction ends and checks that their session is still live. The request may
 * have waited for seconds since authentication.
 * @throws AppError `unauthorized` when the session has ended, or the account was disabled or deleted
 */
export async function requireActing(em: EntityManager, viewer: Viewer): Promise<void> {
  await sql`select 1 from accounts where id = ${viewer.accountId} for no key update`.execute(em.getKysely());
  await requireLive(em, viewer);
}

/**
 * The same check without a lock. Call it when the transaction holds all locks that it waits for.
 * @throws AppError `unauthorized`
 */
export async function requireLive(em: EntityManager, viewer: Viewer): Promise<ActiveSession> {
  const live = await findLiveSession(em, viewer);
  if (!live) throw new AppError('unauthorized');
  return live;
}

/**
 * Changes the viewer's objects in a transaction. The account is locked first, in the same order as by transactions
 * that delete or disable the account or change its password or role, so they can't deadlock. Charges and other
 * changes don't wait for this lock. The session is checked last: a log-out takes no lock and may have happened while
 * the transaction waited.
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
 * Checks that the viewer is still an administrator. Like `requireLive`, call it when the locks are held.
 * @throws AppError `unauthorized`, `forbidden`
 */
export async function requireActingAdmin(em: EntityManager, viewer: Viewer): Promise<void> {
  if (viewer.sessionId === COMMAND_LINE_SESSION) return;
  const { role } = await requireLive(em, viewer);
  if (role !== 'admin') throw new AppError('forbidden');
}
