import { DAY_MS, utcDay } from '../../../lib/clock.js';
import type { Money } from '../../../lib/money.js';
import type { WindowDecision } from '../../../lib/sliding-window.js';
import { type Payer, windowOf } from '../../payer.js';
import { BALANCE_FLOOR } from '../limits.js';
import type { FrameWriter } from './frame-writer.js';
import type { Grant } from './frames.js';

/** An edge that the counting process has not heard of for so long asks before it admits anything. */
const LEASE_MS = 2_000;
/** If an adjustment or other edges lower a balance by more than this share, a lease may exceed what is left. */
const FALLEN_PART = 64n;

/** What a lease was given for. */
interface Terms {
  limit: number;
  cap: Money | null;
  /** The UTC day of the cap, counted from 1970. */
  day: number;
}

/** What may be admitted without asking. */
interface Lease {
  calls: number;
  money: Money;
  /** What it began with; less than half of it asks for more. */
  firstCalls: number;
  firstMoney: Money;
  /** Calls that are left in the minute beside it, as far as was known. */
  beside: number;
  until: number;
  isUsed: boolean;
  /** The balance when it was given. */
  balance: Money;
}

/** Whether its time is over, or a clock that was put back says that it hasn't begun. */
const isOld = ({ until }: Lease, now: number): boolean => now >= until || now < until - LEASE_MS;

/** A payer as the counting process knows it, with what this edge may admit of it and has not told yet. */
export class ToldPayer {
  usedAt = 0;
  #lease: Lease | undefined;
  #terms: Terms = { limit: 0, cap: null, day: 0 };
  /** How many grants have come. */
  #grants = 0;
  /** More was asked for, and there is no answer yet. */
  #isAsking = false;
  /** There was no more. */
  #isRefused = false;
  #holds: Money = 0n;
  #charges: Money = 0n;
  /** The UTC day of these charges, counted from 1970. */
  #day = 0;
  #taken: Money = 0n;
  #used: number[] = [];

  constructor(
    readonly ref: number,
    public payer: Payer,
  ) {}

  /** Whether changes may wait, because the counting process asks for them when it needs them. */
  get isLeased(): boolean {
    return this.#lease !== undefined;
  }

  /** Whether nothing would be lost by forgetting it. */
  get isIdle(): boolean {
    const { account, day } = this.payer;
    return !this.#lease && !this.#isAsking && !this.#isChanged && account.idle && day.idle;
  }

  /** Whether more should be asked for soon. */
  get isLow(): boolean {
    const lease = this.#lease;
    if (!lease || this.#isAsking || this.#isRefused) return false;
    return 2 * lease.calls < lease.firstCalls || 2n * lease.money < lease.firstMoney;
  }

  /** Takes a call out of the lease; undefined where it doesn't fit. */
  admit(hold: Money, now: number): WindowDecision | undefined {
    const lease = this.#lease;
    if (!lease || lease.calls === 0 || hold > lease.money || isOld(lease, now)) return undefined;
    if (!this.#holdsFor(now) || this.#isFallen || this.payer.account.available < BALANCE_FLOOR)
      return undefined;
    lease.calls--;
    lease.money -= hold;
    lease.isUsed = true;
    this.#taken += hold;
    this.#holds += hold;
    this.#used.push(now);
    const { limit, windowMs } = windowOf(this.payer);
    return { allowed: true, limit, remaining: lease.beside + lease.calls, resetMs: windowMs };
  }

  /** Whether there are unreported charges of a different day than `at` (milliseconds). */
  hasOtherDay(at: number): boolean {
    return this.#charges !== 0n && this.#day !== dayOf(at);
  }

  /** Holds or charges of `at` have changed. What a settled call leaves of its hold goes back into the lease. */
  changed(holds: Money, charges: Money, at: number): void {
    this.#holds += holds;
    this.#charges += charges;
    if (charges !== 0n) this.#day = dayOf(at);
    const lease = this.#lease;
    if (!lease || holds >= 0n) return;
    const back = least(-holds - charges, lease.firstMoney - lease.money);
    if (back <= 0n) return;
    lease.money += back;
    this.#taken -= back;
  }

  /** Asks for a call, after reporting pending changes. */
  ask(writer: FrameWriter, hold: Money, now: number): void {
    const { payer } = this;
    const { limit } = windowOf(payer);
    const day = dayOf(now);
    const isOver = this.#lease && (isOld(this.#lease, now) || this.#isFallen || !this.#holdsFor(now));
    if (isOver || this.#isChanged) this.tell(writer, now, { closes: Boolean(isOver) });
    this.#terms = { limit, cap: payer.dailyLimit, day };
    writer.take({ ref: this.ref, day, limit, hold, cap: payer.dailyLimit, ...known(payer, day) });
  }

  /** The counting process has given more, or the same for longer. */
  granted({ calls, money }: Grant, remaining: number, now: number): void {
    this.#isRefused = money < 0n;
    if (this.#isRefused) return;
    this.#grants++;
    this.#lease ??= {
      ...{ calls: 0, money: 0n, firstCalls: 0, firstMoney: 0n },
      ...{ beside: 0, until: 0, isUsed: false, balance: 0n },
    };
    const lease = this.#lease;
    lease.calls += calls;
    lease.money += money;
    lease.firstCalls = lease.calls;
    lease.firstMoney = lease.money;
    lease.beside = Math.max(0, remaining - lease.calls);
    lease.until = now + LEASE_MS;
    lease.isUsed = false;
    lease.balance = this.payer.account.balance;
  }

  /** More was asked for, and this is the answer. */
  heard(): void {
    this.#isAsking = false;
  }

  /** From time to time: asks for more where the lease is in use, and gives it back where it isn't. */
  renew(writer: FrameWriter, now: number): void {
    const lease = this.#lease;
    this.#isRefused = false;
    const closes = lease !== undefined && isOld(lease, now);
    const isAging = lease?.isUsed === true && lease.until - now < LEASE_MS / 2;
    const wants = !closes && !this.#isAsking && (isAging || this.isLow);
    if (closes || wants || this.#isChanged) this.tell(writer, now, { closes, wants });
  }

  /** Tells what has changed. */
  tell(writer: FrameWriter, now: number, { closes = false, wants = false } = {}): void {
    const { payer, ref } = this;
    const day = this.#charges === 0n ? dayOf(now) : this.#day;
    const lease = closes ? this.#lease : undefined;
    writer.report({
      ...{ ref, wants, day, holds: this.#holds, charges: this.#charges },
      money: this.#taken + (lease?.money ?? 0n),
      calls: lease?.calls ?? 0,
      used: this.#used,
      closes: closes ? this.#grants : null,
      ...known(payer, day),
    });
    if (closes) this.#lease = undefined;
    if (wants) this.#isAsking = true;
    this.#holds = 0n;
    this.#charges = 0n;
    this.#taken = 0n;
    if (this.#used.length > 0) this.#used = [];
  }

  get #isChanged(): boolean {
    return this.#holds !== 0n || this.#charges !== 0n || this.#taken !== 0n || this.#used.length > 0;
  }

  /** Whether the balance is far below what it was when the lease was given. */
  get #isFallen(): boolean {
    const before = this.#lease?.balance ?? 0n;
    return FALLEN_PART * (before - this.payer.account.balance) > before;
  }

  /** Whether the lease was given for what the payer's row says now. */
  #holdsFor(now: number): boolean {
    const { limit, cap, day } = this.#terms;
    const { payer } = this;
    if (windowOf(payer).limit !== limit || payer.dailyLimit !== cap) return false;
    return cap === null || dayOf(now) === day;
  }
}

const dayOf = (timeMs: number): number => Math.floor(timeMs / DAY_MS);

const least = (a: Money, b: Money): Money => (a < b ? a : b);

/** What the counting process is told of a payer with every word. */
const known = ({ account, day: state }: Payer, day: number) => ({
  balance: account.balance,
  seq: account.seq,
  spend: state.spend(utcDay(day * DAY_MS)),
});
