import type { ContentKey } from '../content.js';
import { ASK_CHANNEL, type Ask, type Piece, readAsk, sealPieces, sessionChannel } from './live-messages.js';
import { GATHER_MS, type LiveSession } from './live-session.js';
import type { RunBus } from './run-bus.js';

/** Followers elsewhere ask every second. Those that stop asking have left. */
const INTEREST_MS = 5_000;

interface Broadcasting {
  session: LiveSession;
  key: ContentKey;
  /** Length of each answer already sent. */
  lengths: Ask['lengths'];
  interestUntil: number;
  timer: NodeJS.Timeout | undefined;
  leave(): void;
}

/** Sends the progress of this process's sessions to other processes as long as one of them asks. */
export class Broadcast {
  readonly #sessions = new Map<string, Broadcasting>();
  readonly #stop: () => void;

  constructor(private readonly bus: RunBus) {
    this.#stop = bus.subscribe(ASK_CHANNEL, (message) => this.#asked(readAsk(message)));
  }

  /** Sends the session's progress to processes that ask, until `remove`. */
  add(session: LiveSession, key: ContentKey): void {
    if (!this.bus.isShared) return;
    const entry: Broadcasting = {
      ...{ session, key, lengths: {}, interestUntil: 0, timer: undefined },
      leave: session.onChange(() => this.#changed(entry)),
    };
    this.#sessions.set(session.id, entry);
  }

  remove(session: LiveSession): void {
    const entry = this.#sessions.get(session.id);
    if (!entry) return;
    clearTimeout(entry.timer);
    entry.leave();
    this.#sessions.delete(session.id);
  }

  stop(): void {
    this.#stop();
    for (const { session } of [...this.#sessions.values()]) this.remove(session);
  }

  #asked(ask: Ask | undefined): void {
    const entry = ask && this.#sessions.get(ask.session);
    if (!entry) return;
    entry.interestUntil = performance.now() + INTEREST_MS;
    // Starts from the follower with the least text; the others skip what they have.
    for (const { id } of entry.session.runs) {
      entry.lengths[id] = Math.min(entry.lengths[id] ?? 0, ask.lengths[id] ?? 0);
    }
    this.#send(entry);
  }

  #changed(entry: Broadcasting): void {
    if (performance.now() > entry.interestUntil) return;
    entry.timer ??= setTimeout(() => this.#send(entry), GATHER_MS);
  }

  #send(entry: Broadcasting): void {
    clearTimeout(entry.timer);
    entry.timer = undefined;
    const { session, key, lengths } = entry;
    const pieces = session.runs.flatMap(({ id, text, ttftMs }): Piece[] => {
      const at = lengths[id] ?? 0;
      lengths[id] = text.length;
      return text.length > at ? [{ id, at, text: text.slice(at), ttftMs }] : [];
    });
    if (pieces.length > 0) this.bus.publish(sessionChannel(session.id), sealPieces(session, key, pieces));
  }
}
