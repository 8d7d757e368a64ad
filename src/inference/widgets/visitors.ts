import { LRUCache } from 'lru-cache';
import { type Clock, utcDay } from '../../lib/clock.js';

/** Visitors whose messages are counted at once; who came least lately is forgotten first. */
const MAX_VISITORS = 100_000;
/** Who changes sessions is still known by the address, which people behind one router share. */
const SESSIONS_PER_ADDRESS = 5;

/** Whose message it is. */
export interface Visitor {
  widgetId: string;
  /** The network address; of IPv6 the /64. */
  address: string;
  session: string;
}

/**
 * Messages of each visitor by UTC day: of a session up to a limit, of an address up to five times as many. Kept in this
 * process alone: a restart begins anew, and each edge counts for itself. The daily limit of the widget stands behind it.
 */
export class Visitors {
  readonly #counts = new LRUCache<string, { day: string; messages: number }>({ max: MAX_VISITORS });

  constructor(private readonly clock: Clock) {}

  /** Whether one more message is within the limit. */
  hasRoom(visitor: Visitor, limit: number): boolean {
    const [session, address] = namesOf(visitor);
    return this.#count(session) < limit && this.#count(address) < limit * SESSIONS_PER_ADDRESS;
  }

  /** Counts a message; `undo` takes it back. */
  take(visitor: Visitor): { undo(): void } {
    const names = namesOf(visitor);
    for (const name of names) this.#add(name, 1);
    return {
      undo: () => {
        for (const name of names) this.#add(name, -1);
      },
    };
  }

  #count(name: string): number {
    const known = this.#counts.get(name);
    return known?.day === utcDay(this.clock.now()) ? known.messages : 0;
  }

  #add(name: string, messages: number): void {
    const sum = Math.max(0, this.#count(name) + messages);
    this.#counts.set(name, { day: utcDay(this.clock.now()), messages: sum });
  }
}

const namesOf = ({ widgetId, address, session }: Visitor): [session: string, address: string] => [
  `${widgetId} ${address} ${session}`,
  `${widgetId} ${address}`,
];
