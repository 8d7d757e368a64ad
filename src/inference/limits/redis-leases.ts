import { performance } from 'node:perf_hooks';
import { type Clock, utcDay } from '../../lib/clock.js';
import type { Money } from '../../lib/money.js';
import type { WindowDecision } from '../../lib/sliding-window.js';
import { type Payer, windowOf } from '../payer.js';
import type { AccountState } from './account-state.js';
import { LEASE_MS, VALID_MS } from './lease-times.js';
import { type Admission, BALANCE_FLOOR } from './limits.js';
import { addChange, changeOf, type Gathered, type Grant, type Lessee } from './redis-batch.js';

/** A payer with fewer calls within the time of a lease asks for each call. */
const LEAST_CALLS = 4;
const MOST_CALLS = 256;
/** A lease is for so many times what was admitted lately. */
const AHEAD = 2;
/** If the balance falls by more than this share, by an adjustment or other edges, a lease may exceed what is left. */
const FALLEN_PART = 64n;

/** What a lease was asked for. */
interface Terms {
  readonly limit: number;
  readonly cap: Money | null;
  /** The UTC day of the cap. */
  readonly day: string;
  readonly balance: Money;
}

/** What was leased, and on which terms. */
interface Lease {
  calls: number;
  money: Money;
  readonly firstMoney: Money;
  /** Calls that are left in the minute beside it, as far as was known. */
  readonly beside: number;
  readonly since: number;
  readonly terms: Terms;
}

/** What a payer asks for, and may admit without asking. */
class LeasedPayer implements Lessee {
  lease: Lease | undefined;
  /** As they were when it was last spoken of. */
  terms: Terms = { limit: 0, cap: null, day: '', balance: 0n };
  want = 0;
  hold: Money = 0n;
  #lastHold: Money = 0n;
  #recent = 0;
  #before = 0;
  #since = performance.now();

  constructor(public payer: Payer) {}

  note({ payer, hold }: Admission): void {
    this.payer = payer;
    this.#recent++;
    this.#lastHold = hold;
    if (hold > this.hold) this.hold = hold;
  }

  /** Whether there was hardly a call of late. */
  get isIdle(): boolean {
    return this.#recent === 0 && this.#before < 1;
  }

  /** Decides how many calls to lease for; none where it isn't worth it. */
  reckon(): void {
    const now = performance.now();
    const tookMs = now - this.#since;
    if (tookMs >= LEASE_MS) {
      this.#before = (this.#recent * LEASE_MS) / tookMs;
      this.#recent = 0;
      this.#since = now;
      this.hold = this.#lastHold;
    }
    const expected = Math.max(this.#before, this.#recent);
    this.want = expected < LEAST_CALLS ? 0 : Math.min(MOST_CALLS, Math.ceil(AHEAD * expected));
  }
}

/** Whether a lease was given for what the payer's row says now, and for this time. */
function isValid({ since, terms }: Lease, payer: Payer, now: number): boolean {
  const { limit, cap, day, balance } = terms;
  return (
    now >= since &&
    now - since < VALID_MS &&
    windowOf(payer).limit === limit &&
    payer.dailyLimit === cap &&
    (cap === null || utcDay(now) === day) &&
    FALLEN_PART * (balance - payer.account.balance) <= balance
  );
}

/** What is known of an account's leases. */
interface Account {
  /** By credential. */
  readonly lessees: Map<string, LeasedPayer>;
  /** Changes to report when its leases end. Undefined if it has no leases. */
  kept: Gathered | undefined;
  /** Number of messages to Redis about it: only the answer to the last one can lease anything. */
  words: number;
  endsAt: number;
}

export interface RedisLeasesOptions {
  clock: Clock;
  leaseMs?: number | undefined;
  /** These have had their leases for long enough. */
  onDue(accounts: AccountState[]): void;
}

/**
 * What this edge may admit without asking Redis. Redis counts it as used against every limit from the moment it gives it, until
 * the edge speaks of the account again: each word ends all that was leased of it, says what has become of it, and may bring
 * more.
 */
export class RedisLeases {
  readonly #accounts = new WeakMap<AccountState, Account>();
  /** Those that have leases, the oldest first. */
  readonly #open = new Set<AccountState>();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  readonly #leaseMs: number;

  constructor(private readonly options: RedisLeasesOptions) {
    this.#leaseMs = options.leaseMs ?? LEASE_MS;
  }

  /** Admits a call out of a lease; undefined where it doesn't fit. The caller takes the hold. */
  admit(admission: Admission, now: number): WindowDecision | undefined {
    const { payer, hold } = admission;
    const account = this.#accounts.get(payer.account);
    if (!account?.kept) return undefined;
    const lessee = account.lessees.get(payer.credential.id);
    const lease = lessee?.lease;
    if (!lease || lease.calls === 0 || hold > lease.money) return undefined;
    if (!isValid(lease, payer, now) || payer.account.available < BALANCE_FLOOR) return undefined;
    lessee.note(admission);
    lease.calls--;
    lease.money -= hold;
    const change = changeOf(account.kept, payer);
    change.holds += hold;
    change.used.push(performance.now());
    const { limit, windowMs } = windowOf(payer);
    return { allowed: true, limit, remaining: lease.beside + lease.calls, resetMs: windowMs };
  }

  /** A call is asked for. */
  asked(admission: Admission): void {
    const { account, credential, rate } = admission.payer;
    // Messages of widgets are counted elsewhere too.
    if (rate) return;
    const { lessees } = this.#of(account);
    let lessee = lessees.get(credential.id);
    if (!lessee) {
      lessee = new LeasedPayer(admission.payer);
      lessees.set(credential.id, lessee);
    }
    lessee.note(admission);
  }

  /** Keeps a change that may wait for the end of a lease. What a settled call leaves of its hold goes back into it. */
  keep(payer: Payer, holds: Money, charges: Money, at: number): boolean {
    const account = this.#accounts.get(payer.account);
    if (!account?.kept) return false;
    addChange(account.kept, payer, holds, charges, at);
    const lease = account.lessees.get(payer.credential.id)?.lease;
    if (lease && holds < 0n) {
      const [back, most] = [-holds - charges, lease.firstMoney - lease.money];
      if (back > 0n) lease.money += back < most ? back : most;
    }
    return true;
  }

  /** Ends the leases of an account, since it is spoken of: what was kept of it. */
  end(state: AccountState): Gathered | undefined {
    const account = this.#accounts.get(state);
    const kept = account?.kept;
    if (!kept) return undefined;
    this.#open.delete(state);
    account.kept = undefined;
    for (const lessee of account.lessees.values()) {
      // Each key that had a lease must be named, or Redis keeps its part of the cap reserved.
      if (lessee.lease) changeOf(kept, lessee.payer);
      lessee.lease = undefined;
    }
    return kept;
  }

  /** An account is spoken of on the UTC day `day`: who has used a lease of it, or would like one, if it `may` have any. */
  speak(
    { account: state, changes, asks }: Gathered,
    day: string,
    may: boolean,
  ): { word: number; lessees: Lessee[] } {
    const account = this.#of(state);
    const word = ++account.words;
    const lessees: LeasedPayer[] = [];
    if (account.lessees.size === 0) return { word, lessees };
    const asking = new Set(asks.map(({ admission }) => admission.payer.credential.id));
    const { balance } = state;
    for (const [id, lessee] of account.lessees) {
      lessee.reckon();
      const { payer } = lessee;
      lessee.terms = { limit: windowOf(payer).limit, cap: payer.dailyLimit, day, balance };
      if (!may || this.#isStopped) lessee.want = 0;
      const change = changes.get(id);
      const isMentioned = change !== undefined || asking.has(id);
      if (change?.used.length || (isMentioned && lessee.want > 0)) lessees.push(lessee);
      else if (lessee.isIdle) account.lessees.delete(id);
    }
    return { word, lessees };
  }

  /** Whether an answer is that to the last word of an account, so that what it grants has not ended yet. */
  isLast(state: AccountState, word: number): boolean {
    return this.#of(state).words === word;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Redis has leased something in answer to the last word of an account. Keeps what has changed since. */
  granted(changed: Gathered, grants: readonly Grant[]): void {
    const { account: state } = changed;
    const account = this.#of(state);
    const now = this.options.clock.now();
    for (const { lessee, calls, money, count } of grants) {
      const { terms } = lessee as LeasedPayer;
      const beside = Math.max(0, terms.limit - count);
      const lease = { calls, money, firstMoney: money, beside, since: now, terms };
      (lessee as LeasedPayer).lease = lease;
    }
    account.kept = changed;
    account.endsAt = performance.now() + this.#leaseMs;
    this.#open.add(state);
    this.#timer ??= setTimeout(() => this.#tell(), this.#leaseMs).unref();
  }

  /** Drops all leases and the changes kept for them. The caller reports the full state instead. */
  drop(): void {
    for (const state of this.#open) {
      const account = this.#of(state);
      account.kept = undefined;
      for (const lessee of account.lessees.values()) lessee.lease = undefined;
    }
    this.#open.clear();
  }

  /** There are no more leases. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.options.onDue([...this.#open]);
  }

  #tell(): void {
    this.#timer = undefined;
    // Those that are due within the next moment leave together.
    const by = performance.now() + this.#leaseMs / 50;
    const due: AccountState[] = [];
    for (const state of this.#open) {
      const { endsAt } = this.#of(state);
      if (endsAt > by) {
        this.#timer = setTimeout(() => this.#tell(), endsAt - performance.now()).unref();
        break;
      }
      due.push(state);
    }
    if (due.length > 0) this.options.onDue(due);
  }

  #of(state: AccountState): Account {
    let account = this.#accounts.get(state);
    if (!account) {
      account = { lessees: new Map(), kept: undefined, words: 0, endsAt: 0 };
      this.#accounts.set(state, account);
    }
    return account;
  }
}
