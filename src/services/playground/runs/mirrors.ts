import type { EntityManager } from '@mikro-orm/postgresql';
import { isDatabaseOutage } from '../../../lib/database-outage.js';
import type { Logger } from '../../../lib/logger.js';
import { accountOwner, asWork } from '../../../lib/work-owner.js';
import { type ContentKey, runView } from '../content.js';
import { findSession, type StoredSession } from '../playground.store.js';
import { ASK_CHANNEL, askFor, openPieces, sessionChannel } from './live-messages.js';
import { LiveSession, liveRun } from './live-session.js';
import type { RunBus } from './run-bus.js';

/** How often it reads from the database which runs have ended, and asks the other process for missing text. */
const LOOK_MS = 1_000;

interface Mirror {
  session: LiveSession;
  followers: number;
  close(): void;
}

export interface MirrorsDeps {
  bus: RunBus;
  /** A new fork. */
  em(): EntityManager;
  log: Logger;
}

/** A session as stored in the database. */
export function restored({ session, runs }: StoredSession, key: ContentKey): LiveSession {
  const views = runs.map((run) => runView(run, session.accountId, key));
  const live = new LiveSession(session.id, session.accountId, views.map(liveRun));
  for (const view of views)
    if (isEnd(view.status)) live.end(live.runs.find(({ id }) => id === view.id)!, view);
  return live;
}

const isEnd = (status: string): boolean => status !== 'pending' && status !== 'running';

/**
 * Sessions that are followed here while another process makes their runs. Answers arrive over Redis as they grow.
 * Ends of runs are read from the database, so that a lost message or process loses nothing.
 */
export class Mirrors {
  readonly #mirrors = new Map<string, Mirror>();

  constructor(private readonly deps: MirrorsDeps) {}

  /** Adds a follower. Call `left` when it leaves. */
  join(stored: StoredSession, key: ContentKey): { session: LiveSession; left: () => void } {
    const { id } = stored.session;
    const mirror = this.#mirrors.get(id) ?? this.#open(stored, key);
    mirror.followers++;
    let here = true;
    return {
      session: mirror.session,
      left: () => {
        if (here && --mirror.followers === 0) mirror.close();
        here = false;
      },
    };
  }

  stop(): void {
    for (const { close } of [...this.#mirrors.values()]) close();
  }

  #open(stored: StoredSession, key: ContentKey): Mirror {
    const { bus } = this.deps;
    const session = restored(stored, key);
    const ask = (): void => bus.publish(ASK_CHANNEL, askFor(session));
    const heard = (message: string): void => {
      if (!takePieces(session, key, message)) ask();
    };
    const leave = bus.subscribe(sessionChannel(session.id), heard, ask);
    let looking = false;
    const look = async (): Promise<void> => {
      if (looking) return;
      looking = true;
      await this.#look(session, key);
      looking = false;
      if (!session.over) ask();
    };
    const timer = setInterval(() => void look(), LOOK_MS).unref();
    const mirror: Mirror = {
      ...{ session, followers: 0 },
      close: () => {
        clearInterval(timer);
        leave();
        if (this.#mirrors.get(session.id) === mirror) this.#mirrors.delete(session.id);
      },
    };
    this.#mirrors.set(session.id, mirror);
    return mirror;
  }

  /** Applies which runs have started and ended. Never rejects. */
  async #look(session: LiveSession, key: ContentKey): Promise<void> {
    const { id, accountId } = session;
    try {
      const owner = accountOwner(accountId);
      const stored = await asWork({ owner }, () => findSession(this.deps.em(), { accountId, id }));
      for (const row of stored?.runs ?? []) {
        const run = session.runs.find((one) => one.id === row.id);
        if (!run || run.result) continue;
        if (isEnd(row.status)) session.end(run, runView(row, accountId, key));
        else run.status = row.status;
      }
      session.gone = stored === undefined;
      session.changed();
    } catch (error) {
      // Retried in a second.
      if (!isDatabaseOutage(error))
        this.deps.log.warn({ err: error, sessionId: id }, 'failed to read a session');
    }
  }
}

/** Adds new text. False if an earlier piece is missing. */
function takePieces(session: LiveSession, key: ContentKey, message: string): boolean {
  let isWhole = true;
  for (const { id, at, text, ttftMs } of openPieces(session, key, message) ?? []) {
    const run = session.runs.find((one) => one.id === id);
    if (!run || run.result) continue;
    if (at > run.text.length) {
      isWhole = false;
      continue;
    }
    run.text += text.slice(run.text.length - at);
    run.ttftMs ??= ttftMs;
    if (run.status === 'pending') run.status = 'running';
  }
  session.changed();
  return isWhole;
}
