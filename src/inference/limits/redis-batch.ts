import { DOLLAR, type Money } from '../../lib/money.js';
import { type Payer, windowOf } from '../payer.js';
import type { AccountState } from './account-state.js';
import type { Admission } from './limits.js';
import { balanceKey, capKey, rateKey } from './redis-keys.js';
import type { RedisUnavailableError } from './redis-link.js';

/** What Redis says of a call. */
export interface Verdict {
  kind: 'ok' | 'poor' | 'account' | 'capped' | 'key' | 'rate' | 'stale';
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

interface Ask {
  admission: Admission;
  listener: Listener;
  /** Whether the edge has something open besides. Set when it is sent. */
  hasOpen: boolean;
}

interface Change {
  payer: Payer;
  holds: Money;
  charges: Money;
}

/** All that is to be said of an account. */
export interface Gathered {
  account: AccountState;
  /** By credential. */
  changes: Map<string, Change>;
  asks: Ask[];
}

/** Four for each call: verdict, count, milliseconds, whether the edge was new to the account. */
export type Answer = (string | number)[];

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

  /** `today` is the UTC day that caps are counted on. */
  constructor(private readonly today: string) {}

  get size(): number {
    return this.#accounts + this.asks.length;
  }

  /** Writes down an account: state, changes and calls, as the script reads them. `member` names a call. */
  add({ account, changes, asks }: Gathered, member: () => string): void {
    let [moreHolds, moreCharges, asked] = [0n, 0n, 0n];
    for (const { holds, charges } of changes.values()) {
      moreHolds += holds;
      moreCharges += charges;
    }
    for (const { admission } of asks) asked += admission.hold;
    const holds = account.holds + account.asked - asked;
    const hasOpen = holds !== 0n || account.pending !== 0n;
    this.#accounts++;
    this.keys.push(balanceKey(account.id));
    const capped = cappedOf(changes, asks);
    this.said.push(
      amountOf(account.balance),
      Number(account.seq),
      account.asking === asks.length ? 1 : 0,
      amountOf(moreHolds),
      amountOf(moreCharges),
      amountOf(holds),
      amountOf(account.pending),
      capped.length,
      asks.length,
    );
    for (const one of capped) this.#addKey(one);
    for (const ask of asks) {
      ask.hasOpen = hasOpen;
      this.asks.push(ask);
      const { payer, hold } = ask.admission;
      this.keys.push(rateKey(payer));
      const { dailyLimit, credential } = payer;
      const isOfPayer = (one: Capped): boolean => one.payer.credential.id === credential.id;
      const nth = dailyLimit === null ? 0 : capped.findIndex(isOfPayer) + 1;
      this.said.push(amountOf(hold), windowOf(payer).limit, member(), nth, amountOf(dailyLimit ?? 0n));
    }
  }

  #addKey({ payer, change, asked }: Capped): void {
    const { day } = payer;
    this.keys.push(capKey(payer, this.today));
    this.said.push(
      amountOf(day.spend(this.today)),
      amountOf(change?.holds ?? 0n),
      amountOf(change?.charges ?? 0n),
      amountOf(day.holds + day.asked - asked),
      amountOf(day.pending),
    );
  }
}

const LONG: Money = 100n * DOLLAR;

/** An amount as the script reads it: Lua's numbers are doubles, and it adds several of them. */
export function amountOf(amount: Money): number | string {
  return amount < LONG && amount > -LONG ? Number(amount) : String(amount);
}

/** The keys with a daily cap that a change or a call concerns, and what is asked for them. */
function cappedOf(changes: ReadonlyMap<string, Change>, asks: readonly Ask[]): Capped[] {
  const found = new Map<string, Capped>();
  for (const change of changes.values()) {
    const { payer } = change;
    if (payer.dailyLimit !== null) found.set(payer.credential.id, { payer, change, asked: 0n });
  }
  for (const { admission } of asks) {
    const { payer, hold } = admission;
    if (payer.dailyLimit === null) continue;
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
