import type { Registry } from 'prom-client';
import type { Clock } from '../../lib/clock.js';
import { utcDay } from '../../lib/clock.js';
import type { Logger } from '../../lib/logger.js';
import type { Money } from '../../lib/money.js';
import type { FlushResult } from '../../metering/usage-record.js';
import { type Payer, windowOf } from '../payer.js';
import type { EdgeIdentity } from './edge-identity.js';
import { STATE_TTL_MS } from './edge-membership.js';
import { type Admission, BALANCE_FLOOR, type Blocked, type Counters } from './limits.js';
import { hold } from './local-counters.js';
import { LocalShare, ONLY_TOGETHER } from './local-share.js';
import type { RedisUnavailableError } from './redis-link.js';
import { RedisMessages } from './redis-messages.js';
import { createRedisMetrics } from './redis-metrics.js';
import { RedisMode } from './redis-mode.js';
import { keysOf, Publisher } from './redis-publisher.js';
import { dailyCapExceeded, insufficientCredits, rateExceeded } from './refusals.js';

export interface RedisCountersDeps {
  url: string;
  timeoutMs?: number | undefined;
  beatMs?: number | undefined;
  identity: EdgeIdentity;
  /** Reads the key and its account from the database, if that answers. */
  readAgain(payer: Payer): Promise<void>;
  clock: Clock;
  log: Logger;
  registry: Registry;
}

/** Verdict, admitted in the last minute, milliseconds until there is room, whether Redis knew this edge's amounts. */
type TakeAnswer = ['ok' | 'poor' | 'account' | 'capped' | 'key' | 'rate' | 'stale', number, number, number];

/** A head of a queue asks so often: holds of other edges settle without a word to us. */
const POLL_MS = 20;
const START_WAIT_MS = 1_000;
const UNKNOWN_EDGES = 4;
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
  readonly #publisher: Publisher;
  readonly messages: RedisMessages;
  #calls = 0;
  #vouchedSince = 0;

  constructor(private readonly deps: RedisCountersDeps) {
    const metrics = createRedisMetrics(deps.registry);
    this.#edge = deps.identity.id;
    this.#share = new LocalShare(deps.clock);
    this.#mode = new RedisMode({
      url: deps.url,
      timeoutMs: deps.timeoutMs,
      beatMs: deps.beatMs,
      edge: this.#edge,
      log: deps.log,
      metrics,
      announce: async () => {
        await this.#publisher.announce();
        await this.messages.announce();
      },
      beforeShared: (membership) => this.#publisher.retellRates(membership),
      onHeard: () => {
        this.#share.heardAt = deps.clock.now();
      },
      onMembership: (membership) => {
        this.#share.edges = membership.alive;
        this.#publisher.adopt(membership);
        this.#vouchedSince = membership.vouchedSince;
        metrics.edges(membership.alive);
      },
    });
    this.#publisher = new Publisher(this.#edge, this.#mode, deps.clock);
    this.messages = new RedisMessages({
      edge: this.#edge,
      mode: this.#mode,
      clock: deps.clock,
      // An edge that never reached Redis doesn't know how many there are.
      edges: () => (this.#share.heardAt > 0 ? this.#share.edges : UNKNOWN_EDGES),
    });
    deps.identity.onReplaced((ids) => this.#mode.bury(ids));
  }

  get edges(): number {
    return this.#share.edges;
  }

  start(): Promise<void> {
    return this.#mode.start(START_WAIT_MS);
  }

  take(admission: Admission): Admission | Blocked | Promise<Admission | Blocked> {
    this.#publisher.touch(admission.payer);
    return this.#mode.shared ? this.#ask(admission) : this.#takeShare(admission);
  }

  changed(payer: Payer, holds: Money, charges: Money): void {
    this.#publisher.touch(payer);
    if (this.#mode.connected) this.#publisher.tell(payer, holds, charges);
  }

  committed(result: FlushResult): void {
    if (!this.#mode.connected) return;
    const sums = new Map<string, Money>();
    for (const { keyId, widgetId, cost } of result.own) {
      const id = keyId ?? widgetId;
      if (id !== null && cost !== 0n) sums.set(id, (sums.get(id) ?? 0n) + cost);
    }
    for (const [id, sum] of sums) {
      const payer = this.#publisher.payerOf(id);
      if (payer) this.#publisher.tell(payer, 0n, -sum);
    }
  }

  async stop(): Promise<void> {
    this.#publisher.stop();
    this.messages.stop();
    await this.#mode.stop();
  }

  async #ask(admission: Admission): Promise<Admission | Blocked> {
    const { payer, hold: amount } = admission;
    const { account, day } = payer;
    // What is asked below contains these changes already.
    this.#publisher.hurry();
    const open = account.holds + account.asked + account.pending;
    const known = [account.share?.uses, day.share?.uses] as const;
    const asking = this.#mode.link.run<TakeAnswer>(
      'take',
      keysOf(payer, this.deps.clock.now(), true),
      this.#takeArguments(admission),
      (answer) => {
        answered();
        // It was decided locally in the meantime: Redis is told the result.
        if (answer && this.#mode.connected) this.#publisher.tell(payer, 0n, 0n);
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
    if (answer[0] === 'ok') {
      // Redis has counted what was given out locally, and there is room for the next share.
      if (account.share?.uses === known[0]) account.share = undefined;
      if (payer.dailyLimit !== null && day.share?.uses === known[1]) day.share = undefined;
    }
    return this.#verdict(admission, answer);
  }

  #verdict(admission: Admission, [verdict, count, resetMs]: TakeAnswer): Admission | Blocked {
    const window = windowOf(admission.payer);
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

  #takeShare(admission: Admission): Admission | Blocked | Promise<Admission | Blocked> {
    if (this.#share.knows(admission)) return this.#decide(admission);
    return this.deps.readAgain(admission.payer).then(() => this.#decide(admission));
  }

  /** Decides locally. Reports of it keep Redis right for the others as soon as it responds. */
  #decide(admission: Admission): Admission | Blocked {
    const taken = this.#share.take(admission, this.#mode.shared);
    if (typeof taken !== 'string' && this.#mode.connected)
      this.#publisher.tell(admission.payer, admission.hold, 0n);
    return taken;
  }

  #takeArguments({ payer, hold: amount }: Admission): (string | number)[] {
    const { account, day, dailyLimit } = payer;
    return [
      this.#edge,
      this.#mode.life,
      String(amount),
      String(BALANCE_FLOOR),
      String(ONLY_TOGETHER),
      this.#vouchedSince,
      String(account.balance),
      String(account.seq),
      String(account.holds + account.asked),
      String(account.pending),
      windowOf(payer).limit,
      `${this.#edge}:${++this.#calls}`,
      this.#publisher.silent,
      this.#publisher.gone,
      STATE_TTL_MS,
      dailyLimit === null ? '' : String(dailyLimit),
      String(day.spend(utcDay(this.deps.clock.now()))),
      String(day.holds + day.asked),
      String(day.pending),
    ];
  }
}
