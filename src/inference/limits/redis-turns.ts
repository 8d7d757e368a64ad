import type { Clock } from '../../lib/clock.js';
import type { Money } from '../../lib/money.js';
import type { Payer } from '../payer.js';
import type { AccountState } from './account-state.js';
import { type Membership, STATE_TTL_MS } from './edge-membership.js';
import { type Admission, BALANCE_FLOOR } from './limits.js';
import { ONLY_TOGETHER } from './local-share.js';
import {
  type Answer,
  type Ask,
  addChange,
  amountOf,
  Batch,
  changeOf,
  drop,
  forget,
  type Gathered,
  grantsOf,
  type Listener,
  verdictOn,
} from './redis-batch.js';
import { RedisLeases } from './redis-leases.js';
import { PATIENT_TIMEOUT_MS, RedisUnavailableError } from './redis-link.js';
import type { RedisMode } from './redis-mode.js';

/** A settled hold is told with the next call that asks, of any account, or after this time if none does. */
const SETTLED_MS = 4;
/** A script that has so many accounts and calls takes no further account: it keeps others waiting for a millisecond. */
const MOST = 64;
/** Scripts under way while everything is announced. */
const AT_ONCE = 100;
const NO_ANSWER = 'no response';

export interface TurnsOptions {
  edge: string;
  mode: RedisMode;
  clock: Clock;
  leaseMs?: number | undefined;
}

/**
 * Gathers this edge's messages to Redis and sends them once per turn of the event loop: in one script for all accounts,
 * or in a cluster, where a script is confined to one hash tag, one for each.
 */
export class Turns {
  /** The other edges, as last heard of. */
  #others = { dead: [0, 0, 0] as (number | string)[], heardAt: 0, vouchedSince: 0, alive: 1 };
  readonly leases: RedisLeases;
  #gathered = new Map<AccountState, Gathered>();
  #immediate: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Scripts that are not answered yet. */
  readonly #underWay = new Set<Promise<void>>();
  #calls = 0;

  constructor(private readonly options: TurnsOptions) {
    this.leases = new RedisLeases({
      clock: options.clock,
      leaseMs: options.leaseMs,
      onDue: (accounts) => {
        for (const account of accounts) this.#of(account);
        this.flush();
      },
    });
  }

  adopt({ now, silent, lost, gone, vouchedSince, alive }: Membership): void {
    const dead = [silent, lost, gone].flatMap((ids) => [ids.length, ...ids]);
    this.#others = { dead, heardAt: now, vouchedSince, alive };
  }

  /** Asks for a call at the end of this turn. */
  ask(admission: Admission, listener: Listener): void {
    const { account, day } = admission.payer;
    account.asked += admission.hold;
    account.asking++;
    day.asked += admission.hold;
    this.#of(account).asks.push({ admission, listener, hasOpen: false, word: 0 });
    this.leases.asked(admission);
    this.soon();
  }

  /**
   * Reports a change of holds, and of charges of `at` (milliseconds), with the next call, within 4 ms, or when the account's
   * lease ends. Doesn't wait for an answer.
   */
  tell(payer: Payer, holds: Money, charges: Money, at: number): void {
    if (this.leases.keep(payer, holds, charges, at)) return;
    addChange(this.#of(payer.account), payer, holds, charges, at);
    this.#timer ??= setTimeout(() => this.flush(), SETTLED_MS);
  }

  /** Reports what is open, although nothing has changed. */
  restate(payer: Payer): void {
    this.tell(payer, 0n, 0n, 0);
  }

  /** The same at the end of this turn, and without waiting for the end of a lease. */
  restateSoon(payer: Payer): void {
    changeOf(this.#of(payer.account), payer);
    this.soon();
  }

  /** What was told leaves at the end of this turn. */
  soon(): void {
    if (this.#gathered.size === 0) return;
    this.#immediate ??= setImmediate(() => this.flush());
  }

  /** Sends what there is. */
  flush(): void {
    clearImmediate(this.#immediate);
    clearTimeout(this.#timer);
    this.#immediate = undefined;
    this.#timer = undefined;
    const gathered = this.#gathered;
    this.#gathered = new Map();
    for (const batch of this.#batchesOf(gathered.values())) {
      const sent = this.#send(batch)
        .catch((error: unknown) => this.options.mode.failed(error))
        .finally(() => this.#underWay.delete(sent));
      this.#underWay.add(sent);
    }
  }

  /** Sends all pending changes and returns all leases, including those in answers still to come. */
  async stop(): Promise<void> {
    this.leases.stop();
    this.flush();
    await Promise.all(this.#underWay);
    this.flush();
  }

  /** States all that is open of these payers, in place of what was to be told of them. */
  async announce(payers: readonly Payer[]): Promise<void> {
    for (const { changes } of this.#gathered.values()) changes.clear();
    this.leases.drop();
    const all = new Map<AccountState, Gathered>();
    for (const payer of payers) {
      const { account } = payer;
      const gathered = all.get(account) ?? { account, changes: new Map(), asks: [] };
      changeOf(gathered, payer);
      all.set(account, gathered);
    }
    const batches = this.#batchesOf(all.values());
    for (let i = 0; i < batches.length; i += AT_ONCE) {
      await Promise.all(batches.slice(i, i + AT_ONCE).map((batch) => this.#send(batch)));
    }
  }

  #of(account: AccountState): Gathered {
    const known = this.#gathered.get(account);
    if (known) return known;
    const gathered = this.leases.end(account) ?? { account, changes: new Map(), asks: [] };
    this.#gathered.set(account, gathered);
    return gathered;
  }

  /** What was gathered, in scripts. */
  #batchesOf(all: Iterable<Gathered>): Batch[] {
    const batches: Batch[] = [];
    const { edge, mode, clock } = this.options;
    const now = clock.now();
    const member = (): string => `${edge}:${++this.#calls}`;
    const room = (): Batch => {
      const last = batches.at(-1);
      if (last && last.size < MOST && !mode.link.isCluster) return last;
      const batch = new Batch(now);
      batches.push(batch);
      return batch;
    };
    for (const each of all) {
      const { changes, asks } = each;
      if (!mode.connected) changes.clear();
      if (!mode.shared) {
        for (const ask of asks.splice(0)) drop(ask, new RedisUnavailableError(NO_ANSWER));
      }
      if (changes.size === 0 && asks.length === 0) continue;
      const batch = room();
      batch.add(each, this.leases.speak(each, batch.today, mode.shared), member);
    }
    return batches;
  }

  /** Tells every call its answer. Rejects where there was none, and no call to tell of it. */
  async #send(batch: Batch): Promise<void> {
    const { edge, mode } = this.options;
    const { keys, said, asks } = batch;
    const { life } = mode;
    const { vouchedSince, dead, heardAt, alive } = this.#others;
    const limits = [
      amountOf(BALANCE_FLOOR),
      amountOf(ONLY_TOGETHER),
      vouchedSince,
      String(STATE_TTL_MS),
      alive,
      heardAt,
      batch.former ? 1 : 0,
    ];
    const turn = JSON.stringify([edge, life, ...limits, ...dead, ...said]);
    const late = (answer?: Answer): void => {
      asks.forEach((ask, nth) => {
        forget(ask);
        ask.listener.late(answer && verdictOn(ask, answer, nth));
      });
      // A lease in a late answer is given back unused.
      if (answer && life === mode.life) this.#refuse(batch);
    };
    // On the way back no call waits for an answer.
    const timeoutMs = mode.shared ? undefined : PATIENT_TIMEOUT_MS;
    let answer: Answer;
    try {
      answer = await mode.link.run<Answer>('turn', keys, [turn], late, timeoutMs);
    } catch (error) {
      if (asks.length === 0) throw error;
      const unavailable = error as RedisUnavailableError;
      for (const ask of asks) {
        if (unavailable.late) ask.listener.failed(unavailable);
        else drop(ask, unavailable);
      }
      return;
    }
    asks.forEach((ask, nth) => {
      forget(ask);
      const verdict = verdictOn(ask, answer, nth);
      ask.listener.answered(verdict);
      if (verdict.kind !== 'ok') this.#correct(ask);
    });
    if (life === mode.life && mode.shared) this.#lease(batch, answer);
  }

  /** A later word may have stated the hold of a call that is refused now. */
  #correct({ admission: { payer }, word }: Ask): void {
    if (!this.leases.isLast(payer.account, word)) this.restate(payer);
  }

  /** Takes over the leases in an answer, unless a later script about the account has ended them. */
  #lease({ spoken, asks }: Batch, answer: Answer): void {
    let nth = 0;
    for (const each of spoken) {
      const { account, word, lessees } = each;
      const grants = grantsOf(each, answer, asks.length, nth);
      nth += lessees.length;
      if (grants.length === 0 || !this.leases.isLast(account, word)) continue;
      if (this.leases.isStopped) {
        this.restate(lessees[0]!.payer);
        continue;
      }
      const changed = this.#gathered.get(account);
      if (changed && changed.asks.length > 0) continue;
      this.#gathered.delete(account);
      this.leases.granted(changed ?? { account, changes: new Map(), asks: [] }, grants);
    }
  }

  /** Returns the leases in an answer: the next script about an account ends them. */
  #refuse({ spoken }: Batch): void {
    for (const { account, word, lessees } of spoken) {
      if (this.leases.isLast(account, word)) this.restate(lessees[0]!.payer);
    }
  }
}
