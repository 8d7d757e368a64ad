import { performance } from 'node:perf_hooks';
import { type Clock, utcDay } from '../../../lib/clock.js';
import type { Money } from '../../../lib/money.js';
import type { AccountState, DayState } from '../account-state.js';
import { BALANCE_FLOOR } from '../limits.js';
import type { CountedPayer } from './counted-edge.js';
import type { Grant, ReportFrame } from './frames.js';

/** A payer of an edge, and how to speak to that edge. */
export interface Lessee {
  readonly payer: CountedPayer;
  recall(ref: number): void;
}

/** A question that waits until edges have given back what they may give out. */
interface Waiting {
  readonly lessee: Lessee;
  readonly hold: Money;
  decide(isKnown: boolean): void;
}

/** Everything leased of an account. */
interface AccountLeases {
  readonly lessees: Map<CountedPayer, Lessee>;
  /** In the order of their questions. */
  waiting: Waiting[];
  timer: NodeJS.Timeout | undefined;
  /** When edges were last asked for what they hadn't told. */
  askedAt: number;
}

/** Of each limit, an edge is leased at most this part of what is left, divided by the number of edges. */
const PART = 4;
const MOST_CALLS = 64;
const LEAST_CALLS = 4;
/** A lease is worth its messages if this many calls fit into it at once. */
const LEAST_HOLDS = 2n;
/** Edges are asked at most this often, however often an account calls without money. */
const ASK_EVERY_MS = 20;
/** An edge that is too busy to give anything back for so long keeps others from knowing whether they may go on. */
const RECALL_MS = 500;
/** No lease; one of nothing prolongs what an edge has. */
export const NOTHING: Grant = { calls: 0, money: -1n };

/**
 * What edges may admit without asking. It counts as used against every limit until an edge says what has become of it, so
 * that nothing is ever admitted beyond a limit; and before anything is refused because of it, all of the account's is called
 * back, so that nothing is refused below one.
 */
export class Leases {
  readonly #accounts = new WeakMap<AccountState, AccountLeases>();

  constructor(
    private readonly clock: Clock,
    private readonly edges: () => number,
  ) {}

  /** Whether a call fits in whole beside everything that is leased. */
  hasRoom({ account, day, window, claim }: CountedPayer, hold: Money): boolean {
    const now = this.clock.now();
    const { dailyLimit } = claim.payer;
    return (
      account.state.available - hold >= BALANCE_FLOOR &&
      (dailyLimit === null || day.state.used(utcDay(now)) + hold <= dailyLimit) &&
      window.window.peek(now).remaining > window.leased
    );
  }

  /** Whether edges have something of the account that they could give back. */
  isOut({ account }: CountedPayer): boolean {
    return (this.#accounts.get(account.state)?.lessees.size ?? 0) > 0;
  }

  /** How many more calls a payer may make in this minute by its edge. */
  remaining({ window, lease }: CountedPayer): number {
    const { remaining } = window.window.peek(this.clock.now());
    return Math.max(0, remaining - window.leased + lease.calls);
  }

  /** Leases more of what is left, as long as there is plenty of it. */
  grant(lessee: Lessee): Grant {
    const { payer } = lessee;
    const { account, day, lease, claim } = payer;
    const known = this.#accounts.get(account.state);
    if (lease.isRecalled || (known && known.waiting.length > 0)) return NOTHING;
    const share = PART * this.edges();
    const calls = this.#callsFor(payer, share);
    if (calls < LEAST_CALLS) return NOTHING;
    const { hold } = claim;
    let money = moreOf(account.state.available - BALANCE_FLOOR, account.state, account.leased, share);
    const { dailyLimit } = claim.payer;
    if (dailyLimit !== null) {
      const left = dailyLimit - day.state.used(utcDay(this.clock.now()));
      const ofDay = moreOf(left, day.state, day.leased, share);
      if (ofDay < money) money = ofDay;
    }
    const most = hold * BigInt(MOST_CALLS) - lease.money;
    if (money > most) money = most;
    if (lease.money + money < LEAST_HOLDS * hold) return NOTHING;
    const more = { calls: Math.max(0, calls - lease.calls), money: money < 0n ? 0n : money };
    this.#change(payer, more.calls, more.money);
    lease.granted++;
    this.#of(account.state).lessees.set(payer, lessee);
    return more;
  }

  /** An edge reports how it used its lease. */
  report(payer: CountedPayer, { used, calls, money, closes }: ReportFrame): void {
    const { lease, window, account } = payer;
    const now = this.clock.now();
    for (const time of used) window.window.insert(time, now);
    this.#change(payer, -used.length - calls, -money);
    // Otherwise a grant has crossed it.
    if (closes === lease.granted) this.#closed(payer);
    if (account.state.available < BALANCE_FLOOR) this.recall(account.state);
  }

  /** Asks all edges to give back what is leased of an account. */
  recall(account: AccountState): void {
    for (const lessee of this.#accounts.get(account)?.lessees.values() ?? []) {
      const { lease, ref } = lessee.payer;
      if (lease.isRecalled) continue;
      lease.isRecalled = true;
      lessee.recall(ref);
    }
  }

  /** Whether edges may be asked once more for what they have not told of an account. */
  mayAsk({ account }: CountedPayer): boolean {
    const known = this.#of(account.state);
    const now = performance.now();
    if (now - known.askedAt < ASK_EVERY_MS) return false;
    known.askedAt = now;
    return true;
  }

  /**
   * Lets a question wait until there is room for it, or nothing is leased any longer and all edges have told what they have
   * of `untold`.
   */
  wait(waiting: Waiting, untold: readonly Lessee[] = []): void {
    const { state } = waiting.lessee.payer.account;
    const known = this.#of(state);
    for (const lessee of untold) known.lessees.set(lessee.payer, lessee);
    known.waiting.push(waiting);
    known.timer ??= setTimeout(() => this.#giveUp(known), RECALL_MS);
    this.recall(state);
  }

  /** The edge of a payer has ended. What it might have admitted counts as admitted, and is held until its end is settled. */
  ended(payer: CountedPayer): void {
    const { window, lease } = payer;
    const now = this.clock.now();
    for (let nth = 0; nth < lease.calls; nth++) window.window.insert(now, now);
    window.leased -= lease.calls;
    lease.calls = 0;
    this.#closed(payer);
  }

  /** Nobody waits for answers to a payer's questions any longer. */
  abandon(payer: CountedPayer): void {
    const known = this.#accounts.get(payer.account.state);
    if (known) known.waiting = known.waiting.filter(({ lessee }) => lessee.payer !== payer);
  }

  /** The edge makes no use of a payer's lease any more. */
  forget(payer: CountedPayer): void {
    this.#closed(payer);
    this.#change(payer, -payer.lease.calls, -payer.lease.money);
  }

  #callsFor({ window, lease }: CountedPayer, share: number): number {
    const left = window.window.peek(this.clock.now()).remaining - window.leased;
    if (left < window.leased) return 0;
    return Math.min(MOST_CALLS, Math.floor((left + lease.calls) / share));
  }

  #change({ account, day, window, lease }: CountedPayer, calls: number, money: Money): void {
    lease.calls += calls;
    window.leased += calls;
    lease.money += money;
    account.lease(money);
    day.lease(money);
  }

  #closed(payer: CountedPayer): void {
    const { account, lease } = payer;
    lease.isRecalled = false;
    const known = this.#accounts.get(account.state);
    if (!known?.lessees.delete(payer)) return;
    for (let first = known.waiting[0]; first; first = known.waiting[0]) {
      if (known.lessees.size > 0 && !this.hasRoom(first.lessee.payer, first.hold)) return;
      known.waiting.shift();
      first.decide(true);
    }
    clearTimeout(known.timer);
    known.timer = undefined;
  }

  #giveUp(known: AccountLeases): void {
    known.timer = undefined;
    const { waiting } = known;
    known.waiting = [];
    for (const { decide } of waiting) decide(false);
  }

  #of(account: AccountState): AccountLeases {
    let known = this.#accounts.get(account);
    if (!known) {
      known = { lessees: new Map(), waiting: [], timer: undefined, askedAt: -ASK_EVERY_MS };
      this.#accounts.set(account, known);
    }
    return known;
  }
}

/** How much more of what is left of a limit may be leased to an edge that has `own`: never more in all than is left then. */
function moreOf(left: Money, { leased }: AccountState | DayState, own: Money, share: number): Money {
  const more = (left + own) / BigInt(share) - own;
  return leased + more > (left + leased) / 2n ? 0n : more;
}
