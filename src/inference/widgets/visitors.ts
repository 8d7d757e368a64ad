import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Clock, utcDay } from '../../lib/clock.js';
import { deriveKey } from '../../lib/crypto.js';
import type { Allowance, VisitorLimits } from '../limits/shared-messages.js';

/** Sessions and addresses counted at once; the one unused for longest is forgotten first. */
const MAX_NAMES = 200_000;
const MINUTE_MS = 60_000;
/** People behind one router share an address. */
const SESSIONS_PER_ADDRESS = 5;
const NAME_BYTES = 16;

/** Who sent a message. */
export interface Visitor {
  widgetId: string;
  /** The network address; of IPv6 the /64. */
  address: string;
  session: string;
}

/** Why a visitor has to wait: until tomorrow, or for some milliseconds. */
export type VisitorRefusal = 'day' | { waitMs: number };

/** The part of `whole` that is `tenths` of it, rounded up. */
const part = (whole: number, tenths: number): number => Math.ceil((whole * tenths) / 10);

/**
 * The limits of a visitor, or undefined where the owner set none. An address always leaves a tenth of the day and of the
 * minute to others, and a session a fifth of the minute.
 */
export function visitorLimits({
  visitorPerDay,
  perDay,
  perMinute,
}: {
  visitorPerDay: number | null;
  perDay: number;
  perMinute: number;
}): VisitorLimits | undefined {
  if (visitorPerDay === null) return undefined;
  const ofAddress = Math.min(visitorPerDay * SESSIONS_PER_ADDRESS, part(perDay, 9));
  return {
    session: { perDay: visitorPerDay, perMinute: part(perMinute, 8) },
    address: { perDay: Math.max(1, ofAddress), perMinute: part(perMinute, 9) },
  };
}

interface Count {
  day: string;
  messages: number;
  /** Times of the last minute. */
  times: number[];
}

/** Messages of each visitor by UTC day and minute, in this process. With Redis, edges also count them together. */
export class Visitors {
  readonly #counts = new LRUCache<string, Count>({ max: MAX_NAMES });
  readonly #key: Buffer;

  constructor(
    private readonly clock: Clock,
    { encryptionKey }: { encryptionKey: string | Buffer },
  ) {
    this.#key = deriveKey(encryptionKey, 'widget-visitors');
  }

  /** What session and address of a visitor are counted under: it names no address. */
  namesOf({ widgetId, address, session }: Visitor): [session: string, address: string] {
    const name = (...parts: string[]): string =>
      createHmac('sha256', this.#key)
        .update(JSON.stringify([widgetId, ...parts]))
        .digest()
        .subarray(0, NAME_BYTES)
        .toString('base64url');
    return [name(address, session), name(address)];
  }

  /** Why one more message is too many, or undefined. */
  refusal([session, address]: readonly [string, string], limits: VisitorLimits): VisitorRefusal | undefined {
    return this.#refusal(session, limits.session) ?? this.#refusal(address, limits.address);
  }

  /** Counts a message; `undo` takes it back. */
  take(names: readonly string[]): { undo(): void } {
    const at = this.clock.now();
    for (const name of names) {
      const count = this.#countOf(name);
      count.messages++;
      count.times.push(at);
    }
    return {
      undo: () => {
        for (const name of names) {
          const count = this.#countOf(name);
          count.messages = Math.max(0, count.messages - 1);
          const index = count.times.indexOf(at);
          if (index >= 0) count.times.splice(index, 1);
        }
      },
    };
  }

  #refusal(name: string, { perDay, perMinute }: Allowance): VisitorRefusal | undefined {
    const { messages, times } = this.#countOf(name);
    if (messages >= perDay) return 'day';
    if (times.length < perMinute) return undefined;
    const leaving = times[times.length - perMinute]!;
    return { waitMs: Math.max(1, leaving + MINUTE_MS - this.clock.now()) };
  }

  #countOf(name: string): Count {
    const now = this.clock.now();
    const day = utcDay(now);
    const known = this.#counts.get(name);
    const times = known?.times.filter((time) => time > now - MINUTE_MS && time <= now) ?? [];
    if (known?.day === day) {
      known.times = times;
      return known;
    }
    const count = { day, messages: 0, times };
    this.#counts.set(name, count);
    return count;
  }
}
