import { requireViewer, type ServiceContext } from '../../context.js';
import { AppError } from '../../errors.js';
import type { PageInput } from '../../lib/page-input.js';
import { uuidOf } from '../../lib/uuid.js';
import { writeAsViewer } from '../accounts/acting.js';
import type { ServiceDeps } from '../deps.js';
import { idOf, notFound } from '../not-found.js';
import { type ContentKey, contentKeyOf, listedView, sessionView } from './content.js';
import type { RunPlaygroundInput } from './playground.inputs.js';
import type { RunEventOutput, SessionOutput } from './playground.outputs.js';
import { KEPT_SESSIONS, SHARED_SESSIONS } from './playground.rules.js';
import {
  deleteSessions,
  findSession,
  findSessions,
  listSessionIds,
  requestCancel,
  type StoredSession,
} from './playground.store.js';
import { createFollowers } from './runs/follow.js';
import { restored } from './runs/mirrors.js';
import { createSharing, type Sharing } from './sharing.js';
import { startSession } from './start.js';

const TOO_MANY_WAIT =
  'Too many requests are waiting for playground runs. Try again in a moment, or follow the runs over GraphQL.';

/** A session that was started, and a promise of it with all runs ended. */
export interface AwaitedSession {
  session: SessionOutput;
  whole: Promise<SessionOutput>;
}

/** The viewer's model playground. Sessions of other accounts and malformed ids are treated as not found. */
export interface PlaygroundService extends Sharing {
  /**
   * Starts the runs of a prompt and returns at once; `runEvents` reports their progress.
   * @throws AppError `model_not_allowed`, `validation_error`, `upstream_unconfigured`, `rate_limit_exceeded`
   */
  start(context: ServiceContext, input: RunPlaygroundInput): Promise<SessionOutput>;
  /**
   * The same for callers that wait for all runs. A failed run is part of the session. A call of an account with many others waits for up
   * to 10 s before its runs start; it starts none if `left` is aborted meanwhile. @throws AppError as `start`
   */
  run(context: ServiceContext, input: RunPlaygroundInput, left: AbortSignal): Promise<AwaitedSession>;
  /** A page; by default the newest 50, or all shared sessions. Newest first, with shortened texts. */
  list(
    context: ServiceContext,
    filter: { shared?: boolean | undefined } & Partial<PageInput>,
  ): Promise<SessionOutput[]>;
  /** @throws AppError `not_found` */
  get(context: ServiceContext, input: { id: string }): Promise<SessionOutput>;
  /** Cancels unfinished runs, all or one; their upstream calls end within a second. @throws AppError `not_found` */
  cancel(context: ServiceContext, input: { id: string; runId?: string | null }): Promise<SessionOutput>;
  /** Deletes a session with its runs. @throws AppError `not_found` */
  remove(context: ServiceContext, input: { id: string }): Promise<void>;
  /** The progress of a session's runs so far, then each change until all have ended. @throws AppError `not_found` */
  runEvents(context: ServiceContext, input: { id: string }): Promise<AsyncIterableIterator<RunEventOutput>>;
}

export function createPlaygroundService(deps: ServiceDeps): PlaygroundService {
  const { envelopes, config, playground } = deps;
  const { runner, mirrors } = playground;
  const follow = createFollowers();
  const publicUrl = (slug: string): string => `${config.publicBaseUrl}/p/${slug}`;

  const requireKey = async (context: ServiceContext, accountId: string): Promise<ContentKey> => {
    const key = await contentKeyOf(context.em, accountId, envelopes.dataKey);
    if (!key) throw new AppError('unauthorized');
    return key;
  };

  const requireSession = async (context: ServiceContext, id: string): Promise<StoredSession> => {
    const { accountId } = requireViewer(context);
    const stored = await findSession(context.em, { accountId, id: idOf(id, 'playground session') });
    if (!stored) throw notFound('playground session');
    return stored;
  };

  const get = async (context: ServiceContext, { id }: { id: string }): Promise<SessionOutput> => {
    const { session, runs } = await requireSession(context, id);
    return sessionView(session, runs, await requireKey(context, session.accountId), publicUrl);
  };

  return {
    ...createSharing(deps, { requireSession, get }),
    async start(context, input) {
      return (await startSession(context, input, deps)).session;
    },
    async run(context, input, left) {
      const leave = await runner.takePlace(requireViewer(context).accountId, left);
      if (!leave) throw new AppError('rate_limit_exceeded', { message: TOO_MANY_WAIT, retryAfterSeconds: 1 });
      try {
        const { session, live } = await startSession(context, input, deps);
        const whole = live
          .ended()
          .then(() => ({ ...session, runs: live.runs.map((run, at) => run.result ?? session.runs[at]!) }));
        void whole.then(leave);
        return { session, whole };
      } catch (error) {
        leave();
        throw error;
      }
    },
    async list(context, { shared, limit = shared ? SHARED_SESSIONS : KEPT_SESSIONS, offset = 0 }) {
      const { accountId } = requireViewer(context);
      const ids = await listSessionIds(context.em, { accountId, shared, limit, offset });
      if (ids.length === 0) return [];
      const key = await requireKey(context, accountId);
      const listed: SessionOutput[] = [];
      // The full texts of all shared sessions are too much for memory, and to decrypt in one go.
      for (let from = 0; from < ids.length; from += KEPT_SESSIONS) {
        const stored = await findSessions(context.em, accountId, ids.slice(from, from + KEPT_SESSIONS));
        for (const { session, runs } of stored) {
          listed.push(listedView(sessionView(session, runs, key, publicUrl)));
        }
      }
      return listed;
    },
    get,
    async cancel(context, { id, runId }) {
      const { session, runs } = await requireSession(context, id);
      const run = runId == null ? undefined : runs.find((one) => one.id === uuidOf(runId));
      if (runId != null && !run) throw notFound('run');
      const ids = await writeAsViewer(context, (em) => requestCancel(em, session.id, run?.id));
      runner.cancel(ids);
      return get(context, { id });
    },
    async remove(context, input) {
      const { accountId } = requireViewer(context);
      const id = idOf(input.id, 'playground session');
      const ids = await writeAsViewer(context, (em) => deleteSessions(em, { accountId, id }));
      if (!ids) throw notFound('playground session');
      runner.cancel(ids);
    },
    async runEvents(context, { id }) {
      const stored = await requireSession(context, id);
      const live = runner.live(stored.session.id);
      if (live) return follow(live);
      const key = await requireKey(context, stored.session.accountId);
      const known = restored(stored, key);
      if (known.over) return follow(known);
      const { session, left } = mirrors.join(stored, key);
      return follow(session, left);
    },
  };
}
