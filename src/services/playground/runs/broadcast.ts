import type { ContentKey } from '../content.js';
import { ASK_CHANNEL, type Ask, type Piece, readAsk, sealPieces, sessionChannel } from './live-messages.js';
import { GATHER_MS, type LiveSession } from './live-session.js';
import type { RunBus } from './run-bus.js';

/** Followers elsewhere ask every second. Who doesn't any more has left. */
const INTEREST_MS = 5_000;

interface Told {
  session: LiveSession;
  key: ContentKey;
  /** How far each answer was told. */
  lengths: Ask['lengths'];
  interestUntil: number;
  timer: NodeJS.Timeout | undefined;
  leave(): void;
}

/** Tells other processes of the sessions of this one, as long as one of them asks. */
export class Broadcast {
  readonly #sessions = new Map<string, Told>();
  readonly #stop: () => void;

  constructor(private readonly bus: RunBus) {
    this.#stop = bus.subscribe(ASK_CHANNEL, (message) => this.#asked(readAsk(message)));
  }

  /** Until it is over, the session is told of to those who ask. */
  add(session: LiveSession, key: ContentKey): void {
    if (!this.bus.isShared) return;
    const told: Told = {
      ...{ session, key, lengths: {}, interestUntil: 0, timer: undefined },
      leave: session.onChange(() => this.#changed(told)),
    };
    this.#sessions.set(session.id, told);
  }

  remove(session: LiveSession): void {
    const told = this.#sessions.get(session.id);
    if (!told) return;
    clearTimeout(told.timer);
    told.leave();
    this.#sessions.delete(session.id);
  }

  stop(): void {
    this.#stop();
    for (const { session } of [...this.#sessions.values()]) this.remove(session);
  }

  #asked(ask: Ask | undefined): void {
    const told = ask && this.#sessions.get(ask.session);
    if (!told) return;
    told.interestUntil = performance.now() + INTEREST_MS;
    // From where the one that has least stands: the others leave out what they know.
    for (const { id } of told.session.runs) {
      told.lengths[id] = Math.min(told.lengths[id] ?? 0, ask.lengths[id] ?? 0);
    }
    this.#tell(told);
  }

  #changed(told: Told): void {
    if (performance.now() > told.interestUntil) return;
    told.timer ??= setTimeout(() => this.#tell(told), GATHER_MS);
  }

  #tell(told: Told): void {
    clearTimeout(told.timer);
    told.timer = undefined;
    const { session, key, lengths } = told;
    const pieces = session.runs.flatMap(({ id, text, ttftMs }): Piece[] => {
      const at = lengths[id] ?? 0;
      lengths[id] = text.length;
      return text.length > at ? [{ id, at, text: text.slice(at), ttftMs }] : [];
    });
    if (pieces.length > 0) this.bus.publish(sessionChannel(session.id), sealPieces(session, key, pieces));
  }
}
