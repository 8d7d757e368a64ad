import type { Clock } from '../../lib/clock.js';
import { utcDay } from '../../lib/clock.js';
import type { Money } from '../../lib/money.js';
import type { Payer } from '../payer.js';
import type { AccountState } from './account-state.js';
import { type Membership, STATE_TTL_MS } from './edge-membership.js';
import { type Admission, BALANCE_FLOOR } from './limits.js';
import { ONLY_TOGETHER } from './local-share.js';
import {
  type Answer,
  amountOf,
  Batch,
  drop,
  forget,
  type Gathered,
  type Listener,
  verdictOn,
} from './redis-batch.js';
import { PATIENT_TIMEOUT_MS, RedisUnavailableError } from './redis-link.js';
import type { RedisMode } from './redis-mode.js';

/** A settled hold is told with the next call that asks, of any account, or after this time if none does. */
const SETTLED_MS = 4;
/** A script that has so many accounts and calls takes no further account: it keeps others waiting for a millisecond. */
const MOST = 64;
/** Scripts under way while everything is announced. */
const AT_ONCE = 100;
const NO_ANSWER = 'no response';

/**
 * Gathers what this edge has to say to Redis, and says it once per turn of the event loop: in one script for all accounts,
 * or in a cluster, where a script is confined to one hash tag, one for each.
 */
export class Turns {
  /** The other edges, as last heard of. */
  #others = { silent: [] as string[], gone: [] as string[], vouchedSince: 0 };
  #gathered = new Map<AccountState, Gathered>();
  #immediate: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #calls = 0;

  constructor(
    private readonly edge: string,
    private readonly mode: RedisMode,
    private readonly clock: Clock,
  ) {}

  adopt({ silent, gone, vouchedSince }: Membership): void {
    this.#others = { silent, gone, vouchedSince };
  }

  /** Asks for a call at the end of this turn. */
  ask(admission: Admission, listener: Listener): void {
    const { account, day } = admission.payer;
    account.asked += admission.hold;
    account.asking++;
    day.asked += admission.hold;
    this.#of(account).asks.push({ admission, listener, hasOpen: false });
    this.soon();
  }

  /** Tells of a change with the next call, or in a moment. It is not waited for. */
  tell(payer: Payer, holds: Money, charges: Money): void {
    const { changes } = this.#of(payer.account);
    const change = changes.get(payer.credential.id);
    if (change) {
      change.payer = payer;
      change.holds += holds;
      change.charges += charges;
    } else {
      changes.set(payer.credential.id, { payer, holds, charges });
    }
    this.#timer ??= setTimeout(() => this.flush(), SETTLED_MS);
  }

  /** What was told leaves at the end of this turn. */
  soon(): void {
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
      this.#send(batch).catch((error: unknown) => this.mode.failed(error));
    }
  }

  /** States all that is open of these payers, in place of what was to be told of them. */
  async announce(payers: readonly Payer[]): Promise<void> {
    for (const { changes } of this.#gathered.values()) changes.clear();
    const all = new Map<AccountState, Gathered>();
    for (const payer of payers) {
      const { account, credential } = payer;
      const gathered = all.get(account) ?? { account, changes: new Map(), asks: [] };
      gathered.changes.set(credential.id, { payer, holds: 0n, charges: 0n });
      all.set(account, gathered);
    }
    const batches = this.#batchesOf(all.values());
    for (let i = 0; i < batches.length; i += AT_ONCE) {
      await Promise.all(batches.slice(i, i + AT_ONCE).map((batch) => this.#send(batch, PATIENT_TIMEOUT_MS)));
    }
  }

  #of(account: AccountState): Gathered {
    const known = this.#gathered.get(account);
    if (known) return known;
    const gathered: Gathered = { account, changes: new Map(), asks: [] };
    this.#gathered.set(account, gathered);
    return gathered;
  }

  /** What was gathered, in scripts. */
  #batchesOf(all: Iterable<Gathered>): Batch[] {
    const batches: Batch[] = [];
    const today = utcDay(this.clock.now());
    const member = (): string => `${this.edge}:${++this.#calls}`;
    let batch: Batch | undefined;
    const room = (): Batch => {
      if (batch && batch.size < MOST && !this.mode.link.isCluster) return batch;
      batch = new Batch(today);
      batches.push(batch);
      return batch;
    };
    for (const each of all) {
      const { changes, asks } = each;
      if (!this.mode.connected) changes.clear();
      if (!this.mode.shared) {
        for (const ask of asks.splice(0)) drop(ask, new RedisUnavailableError(NO_ANSWER));
      }
      if (changes.size > 0 || asks.length > 0) room().add(each, member);
    }
    return batches;
  }

  /** Tells every call its answer. Rejects where there was none, and no call to tell of it. */
  async #send({ keys, said, asks }: Batch, timeoutMs?: number): Promise<void> {
    const { edge, mode } = this;
    const { vouchedSince, silent, gone } = this.#others;
    const limits = [amountOf(BALANCE_FLOOR), amountOf(ONLY_TOGETHER), vouchedSince, String(STATE_TTL_MS)];
    const dead = [silent.length, ...silent, gone.length, ...gone];
    const turn = JSON.stringify([edge, mode.life, ...limits, ...dead, ...said]);
    const late = (answer?: Answer): void => {
      asks.forEach((ask, nth) => {
        forget(ask);
        ask.listener.late(answer && verdictOn(ask, answer, nth));
      });
    };
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
      ask.listener.answered(verdictOn(ask, answer, nth));
    });
  }
}
