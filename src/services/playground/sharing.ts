import { requireViewer, type ServiceContext } from '../../context.js';
import { PlaygroundSession } from '../../entities/playground/playground-session.js';
import { AppError } from '../../errors.js';
import { ofWholeInput } from '../../lib/field-issues.js';
import { requireActing, requireLive, writeAsViewer } from '../accounts/acting.js';
import type { ServiceDeps } from '../deps.js';
import { notFound } from '../not-found.js';
import { lockStarts } from './bounds.store.js';
import { contentKeyOf, sharedView } from './content.js';
import type { SessionOutput, SharedSessionOutput, SharingOutput } from './playground.outputs.js';
import { isSlug, newShareSlug, SHARED_SESSIONS } from './playground.rules.js';
import { findShared, type StoredSession } from './playground.store.js';

export interface Sharing {
  /**
   * Shares a session with everybody who has its link: its previous link, or with `rotate` a new one.
   * @throws AppError `not_found`, `validation_error` when the account shares the maximum number of sessions.
   */
  share(
    context: ServiceContext,
    input: { id: string; rotate?: boolean | null | undefined },
  ): Promise<SharingOutput>;
  /** Stops sharing it at once. @throws AppError `not_found` */
  unshare(context: ServiceContext, input: { id: string }): Promise<SessionOutput>;
  /** A shared session, for everybody. @throws AppError `not_found`, `service_unavailable` when it can't be decrypted */
  shared(context: ServiceContext, input: { slug: string }): Promise<SharedSessionOutput>;
}

export function createSharing(
  { config, envelopes }: ServiceDeps,
  {
    requireSession,
    get,
  }: {
    requireSession(context: ServiceContext, id: string): Promise<StoredSession>;
    get(context: ServiceContext, input: { id: string }): Promise<SessionOutput>;
  },
): Sharing {
  return {
    async share(context, { id: named, rotate }) {
      const viewer = requireViewer(context);
      const { accountId } = viewer;
      const { id } = (await requireSession(context, named)).session;
      const slug = await context.em.transactional(async (em) => {
        // One share at a time per account, so that the number of shared sessions stays within its limit and a session
        // gets one slug.
        await lockStarts(em, accountId);
        await requireActing(em, viewer);
        const { session } = await requireSession({ ...context, em }, id);
        const known = rotate ? null : session.shareSlug;
        if (!session.shared) requireFewer(await em.count(PlaygroundSession, { accountId, shared: true }));
        const shareSlug = known ?? newShareSlug();
        await em.nativeUpdate(PlaygroundSession, { id, accountId }, { shareSlug, shared: true });
        // The transaction may have waited for the row.
        await requireLive(em, viewer);
        return shareSlug;
      });
      return { share_slug: slug, public_url: `${config.publicBaseUrl}/p/${slug}` };
    },
    async unshare(context, input) {
      const { id, accountId } = (await requireSession(context, input.id)).session;
      await writeAsViewer(context, (em) =>
        em.nativeUpdate(PlaygroundSession, { id, accountId }, { shared: false }),
      );
      return get(context, { id });
    },
    async shared({ em }, { slug }) {
      const stored = isSlug(slug) ? await findShared(em, slug) : undefined;
      const key =
        stored && (await contentKeyOf(em, stored.session.accountId, envelopes.dataKey).catch(forVisitors));
      if (!key) throw notFound('shared session', { by: 'slug' });
      return sharedView(stored.session, stored.runs, key);
    },
  };
}

/** Visitors don't see errors meant for the owner. */
function forVisitors(error: unknown): never {
  throw error instanceof AppError ? new AppError('service_unavailable', { cause: error }) : error;
}

function requireFewer(shared: number): void {
  if (shared < SHARED_SESSIONS) return;
  const message = `An account can share at most ${SHARED_SESSIONS} sessions. Stop sharing or delete one first.`;
  throw new AppError('validation_error', { message, details: ofWholeInput(message) });
}
