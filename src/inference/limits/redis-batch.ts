import { performance } from 'node:perf_hooks';
import { dayBefore, dayStart, utcDay } from '../../lib/clock.js';
import { DOLLAR, type Money } from '../../lib/money.js';
import { type Payer, windowOf } from '../payer.js';
import type { AccountState } from './account-state.js';
import { STATE_TTL_MS } from './edge-membership.js';
import type { Admission } from './limits.js';
import { PendingCharges } from './pending-charges.js';
import { accountRateKey, balanceKey, capKey, rateKey } from './redis-keys.js';
import type { RedisUnavailableError } from './redis-link.js';

/** What Redis says of a call. */
export interface Verdict {
  kind: 'ok' | 'poor' | 'account' | 'capped' | 'key' | 'rate' | 'leased' | 'stale';
  /** Calls admitted in the last minute, this one included. */
  count: number;
  /** Milliseconds until the minute is empty, or has room. */
  resetMs: number;
  /** Redis didn't know what this edge has open, and it has something open. */
  forgotten: boolean;
}

/** What a call is told: that it is answered or has failed, and after an error that is `late` what became of it. */
export interface Listener {
  answered(verdict: Verdict): void;
  failed(error: RedisUnavailableError): void;
  /** An answer that came too late, or undefined when none will come. */
  late(verdict: Verdict | undefined): void;
}

export interface Ask {
  admission: Admission;
  listener: Listener;
  /** Whether the edge has something open besides. Set when it is sent. */
  hasOpen: boolean;
  /** Which word of its account asks for it. Set when it is sent. */
  word: number;
}

interface Change {
  payer: Payer;
  holds: Money;
  /** By UTC day. */
  readonly charges: PendingCharges;
  /** When calls were admitted out of a lease, by this process's clock. */
  used: number[];
}

/** Everything to report about an account. */
export interface Gathered {
  account: AccountState;
  /** By credential. */
  changes: Map<string, Change>;
  asks: Ask[];
}

/** Who would like to admit calls without asking. */
export interface Lessee {
  readonly payer: Payer;
  /** How many, and what each may hold. */
  readonly want: number;
  readonly hold: Money;
}

/** What Redis has leased to a payer. */
export interface Grant {
  readonly lessee: Lessee;
  calls: number;
  money: Money;
  /** Calls of the minute that are admitted or leased. */
  count: number;
}

/** Which word of an account a batch speaks, and who asks for leases in it. */
export interface Spoken {
  readonly word: number;
  readonly lessees: readonly Lessee[];
}

/**
 * Four for each call: verdict, count, milliseconds, whether the edge was new to the account. Then three for each lessee: calls,
 * money, count.
 */
export type Answer = (string | number)[];

/** Longer than an unused state lives (`edge-membership.ts`). */
const FORMER_DAY_MS = STATE_TTL_MS + 60_000;

interface Capped {
  payer: Payer;
  change?: Change;
  asked: Money;
}

/** What one run of the script `turn` is given. */
export class Batch {
  readonly keys: string[] = [];
  /** Accounts, their keys and calls, one behind the other. */
  readonly said: (number | string)[] = [];
  #accounts = 0;
  readonly asks: Ask[] = [];
  /** The accounts with lessees, in the order of their grants. */
  readonly spoken: (Spoken & { account: AccountState })[] = [];

  /** The UTC day that caps are counted on. */
  readonly today: string;
  /** The day before, as long as Redis may know what is held of it and not what is held today. */
  readonly former: string | undefined;

  /** `now`: milliseconds by the clock. */
  constructor(now: number) {
    this.today = utcDay(now);
    this.former = now - dayStart(now) < FORMER_DAY_MS ? dayBefore(this.today) : undefined;
  }

  get size(): number {
    return this.#accounts + this.asks.length;
  }

  /** Writes down an account: state, changes, leases and calls, as the script reads them. `member` names a call. */
  add({ account, changes, asks }: Gathered, { word, lessees }: Spoken, member: () => string): void {
    let [moreHolds, moreCharges, asked] = [0n, 0n, 0n];
    for (const { holds, charges } of changes.values()) {
      moreHolds += holds;
      moreCharges += charges.sum;
    }
    for (const { admission } of asks) asked += admission.hold;
    const holds = account.holds + account.asked - asked;
    const hasOpen = holds !== 0n || account.pending !== 0n;
    this.#accounts++;
    this.keys.push(balanceKey(account.id), accountRateKey(account.id));
    const capped = cappedOf(changes, asks);
    const placeOf = ({ credential, dailyLimit }: Payer): number =>
      dailyLimit === null ? 0 : capped.findIndex(({ payer }) => payer.credential.id === credential.id) + 1;
    this.said.push(
      amountOf(account.balance),
      Number(account.seq),
      account.asking === asks.length ? 1 : 0,
      amountOf(moreHolds),
      amountOf(moreCharges),
      amountOf(holds),
      amountOf(account.pending),
      capped.length,
      lessees.length,
      asks.length,
    );
    for (const one of capped) this.#addKey(one);
    if (lessees.length > 0) this.spoken.push({ account, word, lessees });
    for (const lessee of lessees) {
      const { payer, want, hold } = lessee;
      const { used } = changes.get(payer.credential.id) ?? { used: [] };
      this.said.push(placeOf(payer), windowOf(payer).limit, amountOf(payer.dailyLimit ?? 0n));
      this.said.push(want, amountOf(hold), used.length > 0 ? `${member()}.` : '', used.length);
      const now = performance.now();
      for (const at of used) this.said.push(Math.max(0, Math.floor(now - at)));
    }
    for (const ask of asks) {
      ask.hasOpen = hasOpen;
      ask.word = word;
      this.asks.push(ask);
      const { payer, hold } = ask.admission;
      this.keys.push(rateKey(payer));
      this.said.push(amountOf(hold), windowOf(payer).limit, member(), placeOf(payer));
      this.said.push(amountOf(payer.dailyLimit ?? 0n));
    }
  }

  #addKey({ payer, change, asked }: Capped): void {
    const { day } = payer;
    this.keys.push(capKey(payer, this.today));
    if (this.former) this.keys.push(capKey(payer, this.former));
    this.said.push(
      amountOf(day.spend(this.today)),
      amountOf(change?.holds ?? 0n),
      amountOf(change?.charges.of(this.today) ?? 0n),
      amountOf(day.holds + day.asked - asked),
      amountOf(day.pendingOf(this.today)),
    );
  }
}

/** What has changed for a payer, so far. */
export function changeOf({ changes }: Gathered, payer: Payer): Change {
  const known = changes.get(payer.credential.id);
  if (known) {
    known.payer = payer;
    return known;
  }
  const change: Change = { payer, holds: 0n, charges: new PendingCharges(), used: [] };
  changes.set(payer.credential.id, change);
  return change;
}

/** Notes that a payer's holds, and its charges of `at` (milliseconds), have changed. */
export function addChange(gathered: Gathered, payer: Payer, holds: Money, charges: Money, at: number): void {
  const change = changeOf(gathered, payer);
  change.holds += holds;
  if (charges !== 0n) change.charges.add(charges, utcDay(at));
}

const LONG: Money = 100n * DOLLAR;

/** An amount as the script reads it: Lua's numbers are doubles, and it adds several of them. */
export function amountOf(amount: Money): number | string {
  return amount < LONG && amount > -LONG ? Number(amount) : String(amount);
}

/** The capped keys that a change or a call concerns, and what is asked for them. */
function cappedOf(changes: ReadonlyMap<string, Change>, asks: readonly Ask[]): Capped[] {
  const found = new Map<string, Capped>();
  for (const change of changes.values()) {
    const { payer } = change;
    if (payer.day.isCapped) found.set(payer.credential.id, { payer, change, asked: 0n });
  }
  for (const { admission } of asks) {
    const { payer, hold } = admission;
    if (!payer.day.isCapped) continue;
    const known = found.get(payer.credential.id);
    if (known) known.asked += hold;
    else found.set(payer.credential.id, { payer, asked: hold });
  }
  return [...found.values()];
}

/** The answer to one call of a batch. */
export function verdictOn({ hasOpen }: Ask, answer: Answer, nth: number): Verdict {
  const [kind, count, resetMs, isNew] = answer.slice(4 * nth, 4 * nth + 4);
  return {
    kind: kind as Verdict['kind'],
    count: count as number,
    resetMs: resetMs as number,
    forgotten: isNew === 1 && hasOpen,
  };
}

/** What an account is leased by the answer to a batch of `asks` calls; `nth`: the lessees before its own. */
export function grantsOf({ lessees }: Spoken, answer: Answer, asks: number, nth: number): Grant[] {
  return lessees
    .map((lessee, i): Grant => {
      const [calls, money, count] = answer.slice(4 * asks + 3 * (nth + i));
      return { lessee, calls: calls as number, money: BigInt(money!), count: count as number };
    })
    .filter(({ calls }) => calls > 0);
}

/** It is no longer unanswered. */
export function forget({ admission }: Ask): void {
  const { account, day } = admission.payer;
  account.asked -= admission.hold;
  account.asking--;
  day.asked -= admission.hold;
}

/** It gets no answer. */
export function drop(ask: Ask, error: RedisUnavailableError): void {
  forget(ask);
  ask.listener.failed(error);
}
