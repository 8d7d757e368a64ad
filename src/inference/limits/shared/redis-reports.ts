import { performance } from 'node:perf_hooks';
import { type Clock, dayBefore, utcDay } from '../../../lib/clock.js';
import { type Payer, windowOf } from '../../payer.js';
import type { AccountState } from '../account-state.js';
import { type Admission, floorOf } from '../limits.js';
import type { PeriodSpend } from '../period-spend.js';
import { type Membership, STATE_TTL_MS } from './edge-membership.js';
import type { RedisFailover } from './redis-failover.js';
import { balanceKey, capKey, rateKey } from './redis-keys.js';
import { PATIENT_TIMEOUT_MS, RedisUnavailableError } from './redis-link.js';

/** Redis's decision about a call. */
export interface RedisVerdict {
  kind:
    | 'ok'
    | 'insufficient_balance'
    | 'balance_held'
    | 'balance_held_reserved'
    | 'cap_exceeded'
    | 'cap_held'
    | 'cap_held_reserved'
    | 'rate'
    | 'fenced';
  /** Calls admitted in the last minute, including this one. */
  count: number;
  /** Milliseconds until the minute is empty, or has room. */
  resetMs: number;
  /** Whether Redis has lost open amounts of this edge. */
  dataLost: boolean;
}

interface Ask {
  admission: Admission;
  resolve(verdict: RedisVerdict): void;
  reject(error: unknown): void;
}

/** The payers and calls for the next script of an account. */
interface Line {
  /** Payers whose amounts have changed, by credential. */
  payers: Map<string, Payer>;
  asks: Ask[];
  /** Whether calls await a verdict. Meanwhile this edge can't report, since it doesn't know its holds. */
  isAsking: boolean;
}

/** 1 if Redis knew this edge, then three values per call: verdict, calls of the last minute, milliseconds. */
type Answer = [known: number, ...calls: (string | number)[]];

/** Concurrent scripts of `announce`. */
const AT_ONCE = 100;
const ANSWERS_PER_CALL = 3;

export interface ReportsOptions {
  edge: string;
  failover: RedisFailover;
  clock: Clock;
}

/**
 * Reports this edge's open amounts to Redis, account by account, and asks Redis to decide calls. The changes of one turn of the
 * event loop are sent at its end, in one script per account. Every script contains all open amounts of the account, so the next
 * one corrects a lost one.
 */
export class Reports {
  readonly #lines = new Map<AccountState, Line>();
  readonly #underWay = new Set<Promise<void>>();
  /** When Redis last wrote a state, and in which epoch. */
  readonly #written = new WeakMap<AccountState | PeriodSpend, { epoch: number; at: number }>();
  #immediate: NodeJS.Immediate | undefined;
  #calls = 0;
  #heardAt = 0;
  #vouchedSince = 0;
  #lost = '';
  #gone = '';

  constructor(private readonly options: ReportsOptions) {}

  /** Notes which edges are lost and gone. */
  adopt({ now, vouchedSince, lost, gone }: Membership): void {
    const listOf = (ids: readonly string[]): string => (ids.length > 0 ? ` ${ids.join(' ')} ` : '');
    this.#heardAt = now;
    this.#vouchedSince = vouchedSince;
    this.#lost = listOf(lost);
    this.#gone = listOf(gone);
  }

  /**
   * Asks Redis to decide a call. Take the hold in the same turn of the event loop in which the verdict comes.
   * @throws RedisUnavailableError
   */
  ask(admission: Admission): Promise<RedisVerdict> {
    return new Promise((resolve, reject) => {
      this.#lineOf(admission.payer.account).asks.push({ admission, resolve, reject });
      this.#soon();
    });
  }

  /** Reports the open amounts of a payer and its account. Doesn't wait for an answer. */
  report(payer: Payer): void {
    this.#lineOf(payer.account).payers.set(payer.credential.id, payer);
    this.#soon();
  }

  /** Reports the open amounts of these payers and their accounts. */
  async announce(payers: readonly Payer[]): Promise<void> {
    const lines = new Map<AccountState, Line>();
    for (const payer of payers) {
      const line = lines.get(payer.account) ?? newLine();
      line.payers.set(payer.credential.id, payer);
      lines.set(payer.account, line);
    }
    const all = [...lines];
    for (let i = 0; i < all.length; i += AT_ONCE) {
      const some = all.slice(i, i + AT_ONCE);
      await Promise.all(some.map(([account, line]) => this.#run(account, line)));
    }
  }

  /** Sends all that is queued, and waits for the answers. */
  async stop(): Promise<void> {
    this.#flush();
    while (this.#underWay.size > 0) {
      await Promise.all(this.#underWay);
      this.#flush();
    }
  }

  #lineOf(account: AccountState): Line {
    let line = this.#lines.get(account);
    if (!line) {
      line = newLine();
      this.#lines.set(account, line);
    }
    return line;
  }

  #soon(): void {
    this.#immediate ??= setImmediate(() => this.#flush());
  }

  #flush(): void {
    clearImmediate(this.#immediate);
    this.#immediate = undefined;
    for (const [account, line] of this.#lines) {
      if (line.isAsking) continue;
      this.#lines.delete(account);
      const sent = this.#send(account, line).finally(() => this.#underWay.delete(sent));
      this.#underWay.add(sent);
    }
  }

  async #send(account: AccountState, line: Line): Promise<void> {
    const { failover } = this.options;
    if (!failover.shared) rejectAll(line, new RedisUnavailableError('limits are not shared'));
    const { payers, asks } = line;
    if (!failover.connected || (payers.size === 0 && asks.length === 0)) return;
    const next = newLine();
    if (asks.length > 0) {
      next.isAsking = true;
      this.#lines.set(account, next);
    }
    const hasOpen = account.holds !== 0n || account.pending !== 0n;
    try {
      const [known, ...calls] = await this.#run(account, line);
      for (const [nth, { resolve }] of asks.entries()) {
        const [kind, count, resetMs] = calls.slice(ANSWERS_PER_CALL * nth);
        const dataLost = known !== 1 && kind !== 'fenced' && hasOpen;
        resolve({
          kind: kind as RedisVerdict['kind'],
          count: Number(count),
          resetMs: Number(resetMs),
          dataLost,
        });
      }
    } catch (error) {
      if (asks.length === 0) failover.failed(error);
      // Redis may still run the script. The next report, which follows it, corrects what it counted.
      for (const { admission } of asks) next.payers.set(admission.payer.credential.id, admission.payer);
      rejectAll(line, error);
      rejectAll(next, error);
    }
    next.isAsking = false;
    this.#soon();
  }

  async #run(account: AccountState, { payers, asks }: Line): Promise<Answer> {
    const { edge, failover, clock } = this.options;
    const today = utcDay(clock.now());
    const yesterday = dayBefore(today);
    const capped: Payer[] = [];
    const placeOf = new Map<string, number>();
    for (const payer of [...payers.values(), ...asks.map(({ admission }) => admission.payer)]) {
      const { id } = payer.credential;
      if (payer.day.tracksCap && !placeOf.has(id)) placeOf.set(id, capped.push(payer));
    }
    const keys = [balanceKey(account.id)];
    const args: (string | number | bigint)[] = [
      ...[edge, failover.epoch, this.#heardAt, this.#vouchedSince, this.#lost, this.#gone],
      ...[
        account.balance,
        account.seq,
        account.holds,
        account.pending,
        this.#mustExist(account),
        capped.length,
      ],
    ];
    for (const payer of capped) {
      const { day, dailyLimit } = payer;
      keys.push(capKey(payer, today), capKey(payer, yesterday));
      args.push(dailyLimit ?? 0n, day.spend(today), day.holds, day.pendingOf(today), this.#mustExist(day));
    }
    for (const { admission } of asks) {
      const { payer, hold } = admission;
      const place = payer.dailyLimit === null ? 0 : placeOf.get(payer.credential.id)!;
      const rate = keys.push(rateKey(payer));
      args.push(hold, windowOf(payer).limit, `${edge}:${++this.#calls}`, place, rate, floorOf(payer));
    }
    // While limits aren't shared, no call waits for this.
    const timeoutMs = failover.shared ? undefined : PATIENT_TIMEOUT_MS;
    const { epoch } = failover;
    const answer = await failover.link.run<Answer>('decide', keys, args.map(String), timeoutMs);
    const written = { epoch, at: performance.now() };
    for (const state of [account, ...capped.map(({ day }) => day)]) this.#written.set(state, written);
    return answer;
  }

  /** 1 if Redis has written the state so recently that it can't have expired. */
  #mustExist(state: AccountState | PeriodSpend): 0 | 1 {
    const { failover } = this.options;
    const written = this.#written.get(state);
    if (!failover.shared || written?.epoch !== failover.epoch) return 0;
    return performance.now() - written.at < STATE_TTL_MS / 2 ? 1 : 0;
  }
}

function rejectAll({ asks }: Line, error: unknown): void {
  for (const { reject } of asks.splice(0)) reject(error);
}

const newLine = (): Line => ({ payers: new Map(), asks: [], isAsking: false });
