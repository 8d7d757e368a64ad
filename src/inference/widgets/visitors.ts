import { createHmac } from 'node:crypto';
import type { Clock } from '../../lib/clock.js';
import { deriveKey } from '../../lib/crypto.js';
import type { VisitorLimits } from '../limits/shared-messages.js';
import { VisitorCounts, type VisitorRefusal } from './visitor-counts.js';

/** People behind one router share an address. */
const SESSIONS_PER_ADDRESS = 5;
const NAME_BYTES = 16;

/** Who sent a message. */
export interface Visitor {
  widgetId: string;
  /** The IPv4 address, or the /64 of an IPv6 address. */
  address: string;
  session: string;
}

/** So many tenths of `whole`, rounded up. */
const part = (whole: number, tenths: number): number => Math.ceil((whole * tenths) / 10);

/**
 * The limits of a visitor, or undefined if the owner has set none. One address always leaves a tenth of the day and of the
 * minute to others, and one session leaves a fifth of the minute.
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

/** Messages of each visitor in this process. Several edges also count them together (`SharedMessages`). */
export class Visitors {
  readonly #counts: VisitorCounts;
  readonly #key: Buffer;

  constructor(
    private readonly clock: Clock,
    { encryptionKey }: { encryptionKey: string | Buffer },
  ) {
    this.#counts = new VisitorCounts(clock);
    this.#key = deriveKey(encryptionKey, 'widget-visitors');
  }

  /** The names under which a visitor's session and address are counted. They don't reveal the address. */
  namesOf({ widgetId, address, session }: Visitor): [session: string, address: string] {
    const name = (...parts: string[]): string =>
      createHmac('sha256', this.#key)
        .update(JSON.stringify([widgetId, ...parts]))
        .digest()
        .subarray(0, NAME_BYTES)
        .toString('base64url');
    return [name(address, session), name(address)];
  }

  /** Which limit one more message would exceed, or undefined. */
  refusal(names: readonly [string, string], limits: VisitorLimits): VisitorRefusal | undefined {
    return this.#counts.refusal(names, limits);
  }

  /** Counts a message; `undo` takes it back. */
  take(names: readonly string[]): { undo(): void } {
    const at = this.clock.now();
    this.#counts.take(names, at);
    return { undo: () => this.#counts.giveBack(names, at) };
  }
}
