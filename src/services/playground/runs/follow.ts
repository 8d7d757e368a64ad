import { endable } from '../../live/endable.js';
import { Notifier } from '../../live/notifier.js';
import type { RunEventOutput, RunOutput } from '../playground.outputs.js';
import type { LiveRun, LiveSession } from './live-session.js';

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
 * A follower that reads slowly gets fewer and longer pieces, so nothing waits for it in memory.
 */
export function follow(session: LiveSession, left?: () => void): AsyncIterableIterator<RunEventOutput> {
  const notifier = new Notifier();
  const leave = session.onChange(() => notifier.notify());
  const end = (): void => {
    leave();
    notifier.stop();
    left?.();
  };
  return endable(read(session, notifier), end);
}

async function* read(session: LiveSession, notifier: Notifier): AsyncGenerator<RunEventOutput, void> {
  const told = new Map<string, Told>();
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

/** What is new of a run; undefined: nothing is. */
function news(sessionId: string, run: LiveRun, told: Told | undefined): RunEventOutput | undefined {
  const { id, model, status, text, ttftMs, result } = run;
  const isNew =
    told === undefined ||
    (!told.over && result !== undefined) ||
    told.length < text.length ||
    told.status !== status ||
    told.ttftMs !== ttftMs;
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
