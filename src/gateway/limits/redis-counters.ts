import type { Registry } from 'prom-client';
import type { Clock } from '../../lib/clock.js';
import { utcDay } from '../../lib/clock.js';
import type { Logger } from '../../lib/logger.js';
import type { Money } from '../../lib/money.js';
import type { FlushResult } from '../../metering/usage-record.js';
import type { EdgeIdentity } from '../edge-identity.js';
import type { KeyEntry } from '../key-states.js';
import { type Roll, STATE_TTL_MS } from './edge-roll.js';
import { type Admission, BALANCE_FLOOR, type Blocked, type Counters } from './limits.js';
import { hold } from './local-counters.js';
import { LocalShare } from './local-share.js';
import { PATIENT_TIMEOUT_MS, type RedisUnavailableError } from './redis-link.js';
import { createRedisMetrics } from './redis-metrics.js';
import { RedisMode } from './redis-mode.js';
import { dailyCapExceeded, insufficientCredits, rateExceeded } from './refusals.js';

export interface RedisCountersDeps {
  url: string;
  timeoutMs?: number | undefined;
  identity: EdgeIdentity;
  /** The others can't be asked: what the database knows of their spending is to be read anew. */
  onOutage(): void;
  clock: Clock;
  log: Logger;
  registry: Registry;
}

/** Verdict, admitted in the last minute, milliseconds until there is room, whether Redis knew this edge's amounts. */
type TakeAnswer = ['ok' | 'poor' | 'account' | 'capped' | 'key' | 'rate' | 'stale', number, number, number];

/** A head of a queue asks so often: holds of other edges settle without a word to us. */
const POLL_MS = 20;
const START_WAIT_MS = 1_000;
/** What is open is told again so often: amounts that went astray come right. */
const RETELL_MS = 5_000;
/** A key that was not used for so long, and has nothing open, needs no telling; its rate window is empty too. */
const FORGET_MS = 65_000;
const CHUNK = 100;
/** Times of admissions that one script takes. */
const TIMES = 500;

interface Touched {
  entry: KeyEntry;
  usedAt: number;
}

/** What is to be told of a key in this turn of the event loop. */
interface Change {
  entry: KeyEntry;
  holds: Money;
  charges: Money;
}

/**
 * Counters in Redis, one script and one round trip a call. Every change is also kept in this process's own states,
 * which decide alone while Redis is away.
 */
export async function createRedisCounters(deps: RedisCountersDeps): Promise<Counters> {
  const counters = new RedisCounters(deps);
  await counters.start();
  return counters;
}

class RedisCounters implements Counters {
  readonly pollMs = POLL_MS;
  readonly #edge: string;
  readonly #share: LocalShare;
  readonly #mode: RedisMode;
  /** By key. What Redis may know something of. */
  readonly #touched = new Map<string, Touched>();
  readonly #retell: NodeJS.Timeout;
  readonly #changes = new Map<string, Change>();
  #silent = '';
  #gone = '';
  #calls = 0;

  constructor(private readonly deps: RedisCountersDeps) {
    const metrics = createRedisMetrics(deps.registry);
    this.#edge = deps.identity.id;
    this.#share = new LocalShare(deps.clock);
    this.#mode = new RedisMode({
      url: deps.url,
      timeoutMs: deps.timeoutMs,
      edge: this.#edge,
      log: deps.log,
      metrics,
      announce: () => this.#announce(),
      beforeShared: (roll) => this.#retellRates(roll),
      onOutage: () => {
        this.#share.begin();
        deps.onOutage();
      },
      onRoll: (roll) => {
        this.#share.edges = roll.alive;
        this.#silent = roll.silent;
        this.#gone = roll.gone;
        metrics.edges(roll.alive);
      },
    });
    deps.identity.onReplaced((ids) => this.#mode.bury(ids));
    this.#retell = setInterval(() => this.#sweep(), RETELL_MS);
    this.#retell.unref();
  }

  start(): Promise<void> {
    return this.#mode.start(START_WAIT_MS);
  }

  take(admission: Admission): Admission | Blocked | Promise<Admission | Blocked> {
    this.#touch(admission.entry);
    return this.#mode.shared ? this.#ask(admission) : this.#takeShare(admission);
  }

  changed(entry: KeyEntry, holds: Money, charges: Money): void {
    this.#touch(entry);
    if (this.#mode.connected) this.#tell(entry, holds, charges);
  }

  committed(result: FlushResult): void {
    if (!this.#mode.connected) return;
    const sums = new Map<string, Money>();
    for (const { keyId, cost } of result.own) {
      if (keyId !== null && cost !== 0n) sums.set(keyId, (sums.get(keyId) ?? 0n) + cost);
    }
    for (const [keyId, sum] of sums) {
      const touched = this.#touched.get(keyId);
      if (touched) this.#tell(touched.entry, 0n, -sum);
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#retell);
    this.#tellChanges();
    await this.#mode.stop();
  }

  async #ask(admission: Admission): Promise<Admission | Blocked> {
    const { entry, hold: amount } = admission;
    const { account, day } = entry;
    // What is asked below contains these changes already.
    if (this.#changes.size > 0) this.#tellChanges();
    const open = account.holds + account.asked + account.pending;
    const asking = this.#mode.link.run<TakeAnswer>(
      'take',
      this.#keys(entry, true),
      this.#takeArguments(admission),
      (answer) => {
        answered();
        // It was decided here meanwhile: Redis takes over how that went.
        if (answer && this.#mode.connected) this.#tell(entry, 0n, 0n);
      },
    );
    account.asked += amount;
    account.asking++;
    day.asked += amount;
    const answered = (): void => {
      account.asked -= amount;
      account.asking--;
      day.asked -= amount;
    };
    let answer: TakeAnswer;
    try {
      answer = await asking;
    } catch (error) {
      if (!(error as RedisUnavailableError).late) answered();
      this.#mode.failed(error);
      return this.#takeShare(admission);
    }
    answered();
    this.#mode.succeeded();
    if (answer[0] === 'stale') return this.#takeShare(admission);
    if (answer[3] === 1 && open !== 0n) this.#mode.forgotten();
    return this.#verdict(admission, answer);
  }

  #verdict(admission: Admission, [verdict, count, resetMs]: TakeAnswer): Admission | Blocked {
    const { window } = admission.entry.account;
    const { limit } = window;
    switch (verdict) {
      case 'ok':
        window.note(this.deps.clock.now());
        admission.rate = { allowed: true, limit, remaining: Math.max(0, limit - count), resetMs };
        return hold(admission);
      case 'poor':
        throw insufficientCredits();
      case 'capped':
        throw dailyCapExceeded();
      case 'rate':
        throw rateExceeded({ allowed: false, limit, remaining: 0, resetMs: Math.max(1, resetMs) });
      default:
        return verdict as Blocked;
    }
  }

  /** Decides alone. What is told of it keeps Redis right for the others as soon as it listens. */
  #takeShare(admission: Admission): Admission | Blocked {
    const taken = this.#share.take(admission, this.#mode.shared);
    if (typeof taken !== 'string' && this.#mode.connected) this.#tell(admission.entry, admission.hold, 0n);
    return taken;
  }

  #keys({ account, keyId }: KeyEntry, withRate: boolean): string[] {
    const tag = `gw:{${account.id}}`;
    const day = `${tag}:day:${keyId}:${utcDay(this.deps.clock.now())}`;
    return withRate ? [`${tag}:state`, `${tag}:rate`, day] : [`${tag}:state`, day];
  }

  #takeArguments({ entry, hold: amount }: Admission): (string | number)[] {
    const { account, day, dailyLimit } = entry;
    return [
      this.#edge,
      this.#mode.life,
      String(amount),
      String(BALANCE_FLOOR),
      String(account.balance),
      String(account.seq),
      String(account.holds + account.asked),
      String(account.pending),
      account.window.limit,
      `${this.#edge}:${++this.#calls}`,
      this.#silent,
      this.#gone,
      STATE_TTL_MS,
      dailyLimit === null ? '' : String(dailyLimit),
      String(day.spend(utcDay(this.deps.clock.now()))),
      String(day.holds + day.asked),
      String(day.pending),
    ];
  }

  /** Told at the end of this turn, together with what else changes in it, and not waited for. */
  #tell(entry: KeyEntry, holds: Money, charges: Money): void {
    const change = this.#changes.get(entry.keyId);
    if (change) {
      change.entry = entry;
      change.holds += holds;
      change.charges += charges;
      return;
    }
    if (this.#changes.size === 0) setImmediate(() => this.#tellChanges());
    this.#changes.set(entry.keyId, { entry, holds, charges });
  }

  #tellChanges(): void {
    const changes = [...this.#changes.values()];
    this.#changes.clear();
    if (!this.#mode.connected) return;
    for (const { entry, holds, charges } of changes) {
      this.#send(entry, holds, charges).catch((error: unknown) => this.#mode.failed(error));
    }
  }

  /** With nothing under way this edge knows exactly what it has open; else it can only say what changed. */
  #send(entry: KeyEntry, holds: Money, charges: Money, timeoutMs?: number): Promise<unknown> {
    const { account, day, dailyLimit } = entry;
    const told = [
      this.#edge,
      this.#mode.life,
      account.asking === 0 ? '=' : '+',
      String(holds),
      String(charges),
      String(account.holds + account.asked),
      String(account.pending),
      String(account.balance),
      String(account.seq),
      this.#silent,
      this.#gone,
      STATE_TTL_MS,
      dailyLimit === null ? '0' : '1',
      String(day.spend(utcDay(this.deps.clock.now()))),
      String(day.holds + day.asked),
      String(day.pending),
    ];
    return this.#mode.link.run('tell', this.#keys(entry, false), told, undefined, timeoutMs);
  }

  #touch(entry: KeyEntry): void {
    const touched = this.#touched.get(entry.keyId);
    const usedAt = this.deps.clock.now();
    if (!touched) {
      this.#touched.set(entry.keyId, { entry, usedAt });
      return;
    }
    touched.entry = entry;
    touched.usedAt = usedAt;
  }

  /** Tells everything that was in use lately: also that nothing is open any more. */
  async #announce(): Promise<void> {
    const all = [...this.#touched.values()];
    for (let i = 0; i < all.length; i += CHUNK) {
      await Promise.all(
        all.slice(i, i + CHUNK).map(({ entry }) => this.#send(entry, 0n, 0n, PATIENT_TIMEOUT_MS)),
      );
    }
  }

  async #retellRates(roll: Roll): Promise<void> {
    const now = this.deps.clock.now();
    const windows = new Map(
      [...this.#touched.values()].map(({ entry }) => [entry.account.id, entry.account]),
    );
    const all = [...windows.values()];
    for (let i = 0; i < all.length; i += CHUNK) {
      await Promise.all(
        all.slice(i, i + CHUNK).map(async ({ id, window }) => {
          const times = window.times(now).map((time) => time - now + roll.now);
          for (let told = 0; told === 0 || told < times.length; told += TIMES) {
            const some = times.slice(told, told + TIMES);
            const args = [this.#edge, told, ...some];
            await this.#mode.link.run('retellRate', [`gw:{${id}}:rate`], args, undefined, PATIENT_TIMEOUT_MS);
          }
        }),
      );
    }
  }

  #sweep(): void {
    const now = this.deps.clock.now();
    for (const [keyId, { entry, usedAt }] of this.#touched) {
      const idle = entry.account.idle && entry.day.idle;
      if (!idle && this.#mode.connected) this.#tell(entry, 0n, 0n);
      if (idle && now - usedAt > FORGET_MS) this.#touched.delete(keyId);
    }
  }
}
