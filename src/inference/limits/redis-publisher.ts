import type { Clock } from '../../lib/clock.js';
import { utcDay } from '../../lib/clock.js';
import type { Money } from '../../lib/money.js';
import { type Payer, windowOf } from '../payer.js';
import { type Membership, STATE_TTL_MS } from './edge-membership.js';
import { PATIENT_TIMEOUT_MS } from './redis-link.js';
import type { RedisMode } from './redis-mode.js';

/** Interval at which open amounts are reported again, which corrects lost reports. */
const RETELL_MS = 5_000;
/** A key that was unused for so long and has nothing open isn't reported; its rate window is empty, too. */
const FORGET_MS = 65_000;
const CHUNK = 100;
/** Times of admissions that one script takes. */
const TIMES = 500;

interface Touched {
  payer: Payer;
  usedAt: number;
}

/** What to report about a key at the end of this event-loop turn. */
interface Change {
  payer: Payer;
  holds: Money;
  charges: Money;
}

/** What all keys of an account begin with: a cluster keeps them together. */
export const tagOf = (accountId: string): string => `gw:{${accountId}}`;
/** The messages of a widget in the last minute. */
export const widgetRateKey = (accountId: string, name: string): string => `${tagOf(accountId)}:rate:${name}`;
const rateKey = ({ account, rate }: Payer): string =>
  rate ? widgetRateKey(account.id, rate.name) : `${tagOf(account.id)}:rate`;

/** Redis' keys for what is counted of a key: of the account, of its requests, of the key's day. */
export function keysOf(payer: Payer, now: number, withRate: boolean): string[] {
  const { account, credential } = payer;
  const tag = tagOf(account.id);
  const day = `${tag}:day:${credential.id}:${utcDay(now)}`;
  return withRate ? [`${tag}:state`, rateKey(payer), day] : [`${tag}:state`, day];
}

/** Tells Redis what this edge has open, so that the others count it. */
export class Publisher {
  /** Edges that the last membership named as silent and as gone. */
  silent = '';
  gone = '';
  /** By key. What Redis may know something of. */
  readonly #touched = new Map<string, Touched>();
  readonly #changes = new Map<string, Change>();
  readonly #retell: NodeJS.Timeout;

  constructor(
    private readonly edge: string,
    private readonly mode: RedisMode,
    private readonly clock: Clock,
  ) {
    this.#retell = setInterval(() => this.#sweep(), RETELL_MS);
    this.#retell.unref();
  }

  /** What is known of a key in use. */
  payerOf(credentialId: string): Payer | undefined {
    return this.#touched.get(credentialId)?.payer;
  }

  /** Takes over the membership. */
  adopt({ silent, gone }: Membership): void {
    this.silent = silent;
    this.gone = gone;
  }

  /** Reports immediately instead of at the end of this turn. */
  hurry(): void {
    if (this.#changes.size > 0) this.#tellChanges();
  }

  stop(): void {
    clearInterval(this.#retell);
    this.#tellChanges();
  }

  /** Told at the end of this turn, together with what else changes in it, and not waited for. */
  tell(payer: Payer, holds: Money, charges: Money): void {
    const change = this.#changes.get(payer.credential.id);
    if (change) {
      change.payer = payer;
      change.holds += holds;
      change.charges += charges;
      return;
    }
    if (this.#changes.size === 0) setImmediate(() => this.#tellChanges());
    this.#changes.set(payer.credential.id, { payer, holds, charges });
  }

  #tellChanges(): void {
    const changes = [...this.#changes.values()];
    this.#changes.clear();
    if (!this.mode.connected) return;
    for (const { payer, holds, charges } of changes) {
      this.#send(payer, holds, charges).catch((error: unknown) => this.mode.failed(error));
    }
  }

  /** With nothing in progress, this edge knows exactly what it has open; otherwise it can only report changes. */
  #send(payer: Payer, holds: Money, charges: Money, timeoutMs?: number): Promise<unknown> {
    const { account, day, dailyLimit } = payer;
    const told = [
      this.edge,
      this.mode.life,
      account.asking === 0 ? '=' : '+',
      String(holds),
      String(charges),
      String(account.holds + account.asked),
      String(account.pending),
      String(account.balance),
      String(account.seq),
      this.silent,
      this.gone,
      STATE_TTL_MS,
      dailyLimit === null ? '0' : '1',
      String(day.spend(utcDay(this.clock.now()))),
      String(day.holds + day.asked),
      String(day.pending),
    ];
    return this.mode.link.run('tell', keysOf(payer, this.clock.now(), false), told, undefined, timeoutMs);
  }

  /** Notes that a key is in use. */
  touch(payer: Payer): void {
    const touched = this.#touched.get(payer.credential.id);
    const usedAt = this.clock.now();
    if (!touched) {
      this.#touched.set(payer.credential.id, { payer, usedAt });
      return;
    }
    touched.payer = payer;
    touched.usedAt = usedAt;
  }

  /** Reports everything that was in use recently, including that nothing is open any longer. */
  async announce(): Promise<void> {
    const all = [...this.#touched.values()];
    for (let i = 0; i < all.length; i += CHUNK) {
      await Promise.all(
        all.slice(i, i + CHUNK).map(({ payer }) => this.#send(payer, 0n, 0n, PATIENT_TIMEOUT_MS)),
      );
    }
  }

  /** Times of admissions that this edge decided alone, for the others to count. */
  async retellRates(membership: Membership): Promise<void> {
    const now = this.clock.now();
    const windows = new Map(
      [...this.#touched.values()].map(({ payer }) => [rateKey(payer), windowOf(payer)]),
    );
    const all = [...windows];
    for (let i = 0; i < all.length; i += CHUNK) {
      await Promise.all(
        all.slice(i, i + CHUNK).map(async ([key, window]) => {
          const times = window.times(now).map((time) => time - now + membership.now);
          for (let told = 0; told === 0 || told < times.length; told += TIMES) {
            const some = times.slice(told, told + TIMES);
            const args = [this.edge, told, ...some];
            await this.mode.link.run('retellRate', [key], args, undefined, PATIENT_TIMEOUT_MS);
          }
        }),
      );
    }
  }

  #sweep(): void {
    const now = this.clock.now();
    for (const [id, { payer, usedAt }] of this.#touched) {
      const idle = payer.account.idle && payer.day.idle;
      if (!idle && this.mode.connected) this.tell(payer, 0n, 0n);
      if (idle && now - usedAt > FORGET_MS) this.#touched.delete(id);
    }
  }
}
