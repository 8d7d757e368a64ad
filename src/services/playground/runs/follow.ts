import { endable } from '../../live/endable.js';
import { Notifier } from '../../live/notifier.js';
import type { RunEventOutput, RunOutput } from '../playground.outputs.js';
import { GATHER_MS, type LiveRun, type LiveSession } from './live-session.js';

/** Nothing has to be looked at again: a change always tells. */
const PATIENCE_MS = 60_000;

/** What one follower has been told of a run. */
interface Told {
  length: number;
  status: RunOutput['status'];
  ttftMs: number | null;
  over: boolean;
}

/**
 * Everything of a session from its beginning: first what has come so far, then each change, and the whole run at its end.
 * The first text of a run, its states and its end are told at once, more text gathers for a moment. A follower that reads slowly
 * gets fewer and longer pieces, so nothing waits for it in memory.
 */
export function follow(session: LiveSession, left?: () => void): AsyncIterableIterator<RunEventOutput> {
  const told = new Map<string, Told>();
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
    const isUrgent = session.gone || session.runs.some((run) => hasMoreThanText(run, told.get(run.id)));
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
  return endable(read(session, told, notifier), end);
}

async function* read(
  session: LiveSession,
  told: Map<string, Told>,
  notifier: Notifier,
): AsyncGenerator<RunEventOutput, void> {
  while (!notifier.stopped) {
    for (const run of session.runs) {
      const event = news(session.id, run, told.get(run.id));
      if (!event) continue;
      told.set(run.id, {
        length: event.offset + event.delta.length,
        status: run.status,
        ttftMs: run.ttftMs,
        over: event.run !== null,
      });
      yield event;
    }
    const isAllTold = session.runs.every(({ id }) => told.get(id)?.over);
    if (isAllTold || session.gone) return;
    await notifier.wait(PATIENCE_MS);
  }
}

/** Whether a run has begun, answered for the first time, or ended since it was told. */
function hasMoreThanText({ status, text, ttftMs, result }: LiveRun, told: Told | undefined): boolean {
  if (told === undefined) return true;
  if (told.over) return false;
  const isFirstText = told.length === 0 && text !== '';
  return isFirstText || result !== undefined || told.status !== status || told.ttftMs !== ttftMs;
}

/** What is new of a run; undefined: nothing is. */
function news(sessionId: string, run: LiveRun, told: Told | undefined): RunEventOutput | undefined {
  const { id, model, status, text, ttftMs, result } = run;
  const isNew = hasMoreThanText(run, told) || (told?.length ?? 0) < text.length;
  if (told?.over || !isNew) return undefined;
  const offset = Math.min(told?.length ?? 0, text.length);
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
