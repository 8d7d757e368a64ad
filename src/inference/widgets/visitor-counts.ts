import { LRUCache } from 'lru-cache';
import { type Clock, MINUTE_MS, utcDay } from '../../lib/clock.js';
import type { Allowance, VisitorLimits } from '../limits/shared-messages.js';

/** Most sessions and addresses to count. The least recently used is dropped. */
const MAX_NAMES = 200_000;

/** Why a visitor has to wait: until tomorrow, or for some milliseconds. */
export type VisitorRefusal = 'day' | { waitMs: number };

interface Count {
  day: string;
  messages: number;
  /** Times of the last minute's messages. */
  times: number[];
}

const NOTHING: Readonly<Pick<Count, 'messages' | 'times'>> = { messages: 0, times: [] };

/** Messages of each visitor by UTC day and minute, in this process. */
export class VisitorCounts {
  /** Created with the first message, since it allocates memory for all entries at once, which most edges never need. */
  #counts: LRUCache<string, Count> | undefined;

  constructor(private readonly clock: Clock) {}

  /** Which limit one more message would exceed, or undefined. */
  refusal([session, address]: readonly [string, string], limits: VisitorLimits): VisitorRefusal | undefined {
    return this.#refusal(session, limits.session) ?? this.#refusal(address, limits.address);
  }

  take(names: readonly string[], at: number): void {
    for (const name of names) {
      const count = this.#countOf(name);
      count.messages++;
      count.times.push(at);
    }
  }

  /** Takes back a message that was counted at `at`. */
  giveBack(names: readonly string[], at: number): void {
    for (const name of names) {
      const count = this.#countOf(name);
      count.messages = Math.max(0, count.messages - 1);
      const index = count.times.indexOf(at);
      if (index >= 0) count.times.splice(index, 1);
    }
  }

  #refusal(name: string, { perDay, perMinute }: Allowance): VisitorRefusal | undefined {
    const { messages, times } = this.#known(name) ?? NOTHING;
    if (messages >= perDay) return 'day';
    if (times.length < perMinute) return undefined;
    const leaving = times[times.length - perMinute]!;
    return { waitMs: Math.max(1, leaving + MINUTE_MS - this.clock.now()) };
  }

  #countOf(name: string): Count {
    const known = this.#known(name);
    if (known) return known;
    const count = { day: utcDay(this.clock.now()), messages: 0, times: [] };
    this.#counts ??= new LRUCache({ max: MAX_NAMES });
    this.#counts.set(name, count);
    return count;
  }

  /** The present count of a name. Doesn't create one: refused messages under invented names would displace other counts. */
  #known(name: string): Count | undefined {
    const count = this.#counts?.get(name);
    if (!count) return undefined;
    const now = this.clock.now();
    const day = utcDay(now);
    count.times = count.times.filter((time) => time > now - MINUTE_MS && time <= now);
    if (count.day !== day) {
      count.day = day;
      count.messages = 0;
    }
    return count;
  }
}
