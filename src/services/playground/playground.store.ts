import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { PLAYGROUND_CANCEL_CHANNEL } from '../../db/invalidation.js';
import { UNTRACKED } from '../../db/untracked.js';
import { PlaygroundRun } from '../../entities/playground/playground-run.js';
import { PlaygroundSession } from '../../entities/playground/playground-session.js';
import type { PageInput } from '../../lib/page-input.js';

const UNFINISHED = { status: { $in: ['pending' as const, 'running' as const] } };

/** A session with its runs in the order of its models. */
export interface StoredSession {
  session: PlaygroundSession;
  runs: PlaygroundRun[];
}

/** A session of the account. */
export async function findSession(
  em: EntityManager,
  { accountId, id }: { accountId: string; id: string },
): Promise<StoredSession | undefined> {
  const session = await em.findOne(PlaygroundSession, { id, accountId }, UNTRACKED);
  return session ? { session, runs: await runsOf(em, [id]) } : undefined;
}

/** The shared session with this slug, of an active account. */
export async function findShared(em: EntityManager, slug: string): Promise<StoredSession | undefined> {
  const session = await em.findOne(PlaygroundSession, { shareSlug: slug, shared: true }, UNTRACKED);
  if (!session) return undefined;
  const { rows } = await sql`
    select from accounts where id = ${session.accountId} and status = 'active' and deleted_at is null`.execute(
    em.getKysely(),
  );
  return rows.length > 0 ? { session, runs: await runsOf(em, [session.id]) } : undefined;
}

/** Ids of a page of an account's sessions, newest first; all, or only shared or unshared ones. */
export async function listSessionIds(
  em: EntityManager,
  { accountId, shared, ...page }: { accountId: string; shared: boolean | undefined } & PageInput,
): Promise<string[]> {
  const sessions = await em.find(
    PlaygroundSession,
    { accountId, ...(shared !== undefined && { shared }) },
    {
      ...UNTRACKED,
      fields: ['id'],
      orderBy: { createdAt: 'desc', id: 'desc' },
      ...page,
    },
  );
  return sessions.map(({ id }) => id);
}

/** Sessions of an account in the order of their ids; deleted ones are absent. */
export async function findSessions(
  em: EntityManager,
  accountId: string,
  ids: readonly string[],
): Promise<StoredSession[]> {
  const sessions = await em.find(PlaygroundSession, { id: { $in: [...ids] }, accountId }, UNTRACKED);
  const byId = new Map(sessions.map((session) => [session.id, session]));
  const runs = Map.groupBy(await runsOf(em, ids), ({ sessionId }) => sessionId);
  return ids.flatMap((id) => {
    const session = byId.get(id);
    return session ? [{ session, runs: runs.get(id) ?? [] }] : [];
  });
}

const runsOf = (em: EntityManager, ids: readonly string[]): Promise<PlaygroundRun[]> =>
  em.find(PlaygroundRun, { sessionId: { $in: [...ids] } }, { ...UNTRACKED, orderBy: { position: 'asc' } });

/** Marks unfinished runs of a session as cancelled and notifies the processes that make them. Returns their ids. */
export async function requestCancel(
  em: EntityManager,
  sessionId: string,
  runId: string | undefined,
): Promise<string[]> {
  const wanted = { sessionId, ...(runId !== undefined && { id: runId }), ...UNFINISHED };
  const runs = await em.find(PlaygroundRun, wanted, { ...UNTRACKED, fields: ['id'] });
  const ids = runs.map(({ id }) => id);
  await em.nativeUpdate(PlaygroundRun, { id: { $in: ids }, ...UNFINISHED }, { cancelRequested: true });
  await notifyCancel(em, ids);
  return ids;
}

/**
 * Deletes sessions of an account, one or all, with their runs, and ends those in progress.
 * @returns ids of the runs in progress; undefined if there was no such session.
 */
export async function deleteSessions(
  em: EntityManager,
  wanted: { accountId: string; id?: string },
): Promise<string[] | undefined> {
  const sessions = await em.find(PlaygroundSession, wanted, { ...UNTRACKED, fields: ['id'] });
  if (sessions.length === 0) return undefined;
  const sessionIds = sessions.map(({ id }) => id);
  const runs = await em.find(
    PlaygroundRun,
    { sessionId: { $in: sessionIds }, ...UNFINISHED },
    { ...UNTRACKED, fields: ['id'] },
  );
  const deleted = await em.nativeDelete(PlaygroundSession, { ...wanted, id: { $in: sessionIds } });
  if (deleted === 0) return undefined;
  const ids = runs.map(({ id }) => id);
  await notifyCancel(em, ids);
  return ids;
}

/** Stops sharing all sessions of an account. If one is shared again, it gets a new link. */
export async function stopSharing(em: EntityManager, accountId: string): Promise<void> {
  await em.nativeUpdate(PlaygroundSession, { accountId }, { shared: false, shareSlug: null });
}

async function notifyCancel(em: EntityManager, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`select pg_notify(${PLAYGROUND_CANCEL_CHANNEL}, ${ids.join(',')})`.execute(em.getKysely());
}
