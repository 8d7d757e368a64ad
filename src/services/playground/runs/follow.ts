import { AppError } from '../../../errors.js';
import { FairQueue } from '../../../lib/fair/fair-queue.js';
import { endable } from '../../live/endable.js';
import { Notifier } from '../../live/notifier.js';
import type { RunEventOutput, RunOutput } from '../playground.outputs.js';
import { GATHER_MS, type LiveRun, type LiveSession } from './live-session.js';

/** Per account and process: twice the maximum number of sockets, as for all subscriptions. */
const FOLLOWERS_PER_ACCOUNT = 20;

/**
 * Follows sessions, with a limit per account.
 * @throws AppError `rate_limit_exceeded`; `left` is called all the same.
 */
export type Follow = (session: LiveSession, left?: () => void) => AsyncIterableIterator<RunEventOutput>;

export function createFollowers(): Follow {
  const followers = new FairQueue({ perOwner: FOLLOWERS_PER_ACCOUNT });
  return (session, left) => {
    const leave = followers.tryEnter(session.accountId);
    if (!leave) {
      left?.();
      const message = `At most ${FOLLOWERS_PER_ACCOUNT} subscriptions of one kind run per account. End one of them first.`;
      throw new AppError('rate_limit_exceeded', { message });
    }
    let here = true;
    return follow(session, () => {
      if (!here) return;
      here = false;
      leave();
      left?.();
    });
  };
}

/** Every change notifies, so this is only a fallback. */
const PATIENCE_MS = 60_000;

/** What a follower has received of a run. */
interface Received {
  length: number;
  status: RunOutput['status'];
  ttftMs: number | null;
  over: boolean;
}

/**
 * A session from its beginning: its current state, then each change, and the whole run at its end. The first text of
 * a run, its states and its end are sent at once; more text is gathered for a moment. A follower that reads slowly
 * gets fewer and longer pieces, so nothing queues for it in memory.
 */
export function follow(session: LiveSession, left?: () => void): AsyncIterableIterator<RunEventOutput> {
  const sent = new Map<string, Received>();
  const notifier = new Notifier();
  let gathering: NodeJS.Timeout | undefined;
  let notifiedAt = Number.NEGATIVE_INFINITY;
  const notify = (): void => {
    clearTimeout(gathering);
    gathering = undefined;
    notifiedAt = performance.now();
    notifier.notify();
  };
  const changed = (): void => {
    const restMs = notifiedAt + GATHER_MS - performance.now();
    const isUrgent = session.gone || session.runs.some((run) => hasMoreThanText(run, sent.get(run.id)));
    if (isUrgent || restMs <= 0) notify();
    else gathering ??= setTimeout(notify, restMs);
  };
  const leave = session.onChange(changed);
  const end = (): void => {
    leave();
    clearTimeout(gathering);
    notifier.stop();
    left?.();
  };
  return endable(read(session, sent, notifier), end);
}

async function* read(
  session: LiveSession,
  sent: Map<string, Received>,
  notifier: Notifier,
): AsyncGenerator<RunEventOutput, void> {
  while (!notifier.stopped) {
    for (const run of session.runs) {
      const event = news(session.id, run, sent.get(run.id));
      if (!event) continue;
      sent.set(run.id, {
        length: event.offset + event.delta.length,
        status: run.status,
        ttftMs: run.ttftMs,
        over: event.run !== null,
      });
      yield event;
    }
    const isAllSent = session.runs.every(({ id }) => sent.get(id)?.over);
    if (isAllSent || session.gone) return;
    await notifier.wait(PATIENCE_MS);
  }
}

/** Whether a run has changed by more than further text: started, answered for the first time, or ended. */
function hasMoreThanText({ status, text, ttftMs, result }: LiveRun, sent: Received | undefined): boolean {
  if (sent === undefined) return true;
  if (sent.over) return false;
  const isFirstText = sent.length === 0 && text !== '';
  return isFirstText || result !== undefined || sent.status !== status || sent.ttftMs !== ttftMs;
}

/** The next event of a run; undefined if nothing is new. */
function news(sessionId: string, run: LiveRun, sent: Received | undefined): RunEventOutput | undefined {
  const { id, model, status, text, ttftMs, result } = run;
  const isNew = hasMoreThanText(run, sent) || (sent?.length ?? 0) < text.length;
  if (sent?.over || !isNew) return undefined;
  const offset = Math.min(sent?.length ?? 0, text.length);
  return {
    session_id: sessionId,
    run_id: id,
    model_public_name: model,
    status,
    offset,
    delta: text.slice(offset),
    ttft_ms: ttftMs,
    run: result ?? null,
  };
}
