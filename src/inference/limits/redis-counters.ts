import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import type { Clock } from '../../lib/clock.js';
import type { Logger } from '../../lib/logger.js';
import type { Money } from '../../lib/money.js';
import type { FlushResult } from '../../metering/usage-record.js';
import { type Payer, windowOf } from '../payer.js';
import type { AccountState } from './account-state.js';
import { committedCharges } from './committed-charges.js';
import type { EdgeIdentity } from './edge-identity.js';
import { GIVEN_BACK_MS } from './lease-times.js';
import { type Admission, type Blocked, CallerGoneError, type Counters } from './limits.js';
import { hold } from './local-counters.js';
import { LocalShare } from './local-share.js';
import type { Verdict } from './redis-batch.js';
import { RedisMessages } from './redis-messages.js';
import { createRedisMetrics } from './redis-metrics.js';
import { RedisMode } from './redis-mode.js';
import { Publisher } from './redis-publisher.js';
import { Turns } from './redis-turns.js';
import { dailyCapExceeded, insufficientCredits, notServing, rateExceeded } from './refusals.js';

export interface RedisCountersDeps {
  url: string;
  timeoutMs?: number | undefined;
  beatMs?: number | undefined;
  leaseMs?: number | undefined;
  identity: EdgeIdentity;
  /** Reads the key and its account from the database, if that answers. */
  readAgain(payer: Payer): Promise<void>;
  clock: Clock;
  log: Logger;
  registry: Registry;
}

type Taken = Admission | Blocked;

/** How often the head of a queue asks again: holds of other edges settle without a message to us. */
const POLL_MS = 20;
const START_WAIT_MS = 1_000;
const UNKNOWN_EDGES = 4;
/**
 * Counters in Redis, one round trip a call and at most one script. Every change is also kept in this process's own states,
 * which decide alone while Redis is away.
 */
export async function createRedisCounters(deps: RedisCountersDeps): Promise<Counters> {
  const counters = new RedisCounters(deps);
  await counters.start();
  return counters;
}

class RedisCounters implements Counters {
  readonly pollMs = POLL_MS;
  readonly #share: LocalShare;
  readonly #mode: RedisMode;
  readonly #turns: Turns;
  readonly #publisher: Publisher;
  readonly messages: RedisMessages;
  /** The calls that ask what other edges give back, one for each account. */
  readonly #asking = new Map<AccountState, { admission: Admission; over: Promise<void> }>();

  constructor(private readonly deps: RedisCountersDeps) {
    const metrics = createRedisMetrics(deps.registry);
    const edge = deps.identity.id;
    this.#share = new LocalShare(deps.clock);
    this.#mode = new RedisMode({
      url: deps.url,
      timeoutMs: deps.timeoutMs,
      beatMs: deps.beatMs,
      edge,
      log: deps.log,
      metrics,
      announce: async () => {
        await this.#publisher.announce();
        await this.messages.announce();
        await this.#publisher.announceRates();
      },
      beforeShared: () => this.#publisher.announceLaterRates(),
      onHeard: () => {
        this.#share.heardAt = deps.clock.now();
      },
      onMembership: (membership) => {
        this.#share.edges = membership.alive;
        this.#turns.adopt(membership);
        metrics.edges(membership.alive);
      },
    });
    this.#turns = new Turns({ edge, mode: this.#mode, clock: deps.clock, leaseMs: deps.leaseMs });
    this.#publisher = new Publisher(edge, this.#mode, this.#turns, deps.clock);
    this.messages = new RedisMessages({
      edge,
      mode: this.#mode,
      clock: deps.clock,
      // An edge that never reached Redis doesn't know how many there are.
      edges: () => (this.#share.heardAt > 0 ? this.#share.edges : UNKNOWN_EDGES),
    });
    deps.identity.onFound((ids) => this.#mode.found(ids));
    deps.identity.onReplaced((ids) => this.#mode.bury(ids));
  }

  get edges(): number {
    return this.#share.edges;
  }

  start(): Promise<void> {
    return this.#mode.start(START_WAIT_MS);
  }

  take(admission: Admission): Admission | Blocked | Promise<Admission | Blocked> {
    const { payer } = admission;
    this.#publisher.touch(payer);
    if (!this.#mode.shared) return this.#takeShare(admission);
    const now = this.deps.clock.now();
    const rate = this.#turns.leases.admit(admission, now);
    if (!rate) return this.#ask(admission);
    windowOf(payer).note(now);
    admission.rate = rate;
    return hold(admission);
  }

  changed(payer: Payer, holds: Money, charges: Money, at: number): void {
    this.#publisher.touch(payer);
    if (this.#mode.connected) this.#turns.tell(payer, holds, charges, at);
  }

  committed(result: FlushResult): void {
    if (!this.#mode.connected) return;
    for (const { id, charges, at } of committedCharges(result)) {
      const payer = this.#publisher.payerOf(id);
      if (payer) this.#turns.tell(payer, 0n, -charges, at);
    }
    // Until this is told, others that have read the balance count these charges twice.
    this.#turns.soon();
  }

  capped(payer: Payer): void {
    this.#publisher.touch(payer);
    if (this.#mode.connected) this.#turns.restateSoon(payer);
  }

  async stop(): Promise<void> {
    this.#publisher.stop();
    await this.#turns.stop();
    this.messages.stop();
    await this.#mode.stop();
  }

  #ask(admission: Admission, since = performance.now()): Promise<Admission | Blocked> {
    const { payer } = admission;
    const { account, day } = payer;
    const known = [account.share?.uses, day.share?.uses] as const;
    return new Promise((resolve, reject) => {
      this.#turns.ask(admission, {
        answered: (verdict) => {
          this.#mode.succeeded();
          if (verdict.forgotten) this.#mode.forgotten();
          if (verdict.kind === 'ok') {
            // Redis has counted what was given out locally, and there is room for the next share.
            if (account.share?.uses === known[0]) account.share = undefined;
            if (payer.dailyLimit !== null && day.share?.uses === known[1]) day.share = undefined;
          }
          settle(() => this.#decided(admission, verdict, since), resolve, reject);
        },
        failed: (error) => {
          this.#mode.failed(error);
          settle(() => this.#takeShare(admission), resolve, reject);
        },
        // It was decided locally in the meantime: Redis is told the result.
        late: (verdict) => {
          if (verdict && this.#mode.connected) this.#turns.restate(payer);
        },
      });
    });
  }

  #decided(admission: Admission, { kind, count, resetMs }: Verdict, since: number): Taken | Promise<Taken> {
    const window = windowOf(admission.payer);
    const { limit } = window;
    switch (kind) {
      case 'ok':
        window.note(this.deps.clock.now());
        admission.rate = { allowed: true, limit, remaining: Math.max(0, limit - count), resetMs };
        return hold(admission);
      case 'stale':
        return this.#takeShare(admission);
      case 'leased':
        return this.#askAgain(admission, since);
      case 'poor':
        throw insufficientCredits();
      case 'capped':
        throw dailyCapExceeded();
      case 'rate':
        throw rateExceeded({ allowed: false, limit, remaining: 0, resetMs: Math.max(1, resetMs) });
      default:
        return kind;
    }
  }

  /**
   * Other edges may yet have what is missing: they are given the time to say so. Only one call of an account asks again from
   * time to time; the others wait for what becomes of it.
   */
  async #askAgain(admission: Admission, since: number): Promise<Taken> {
    const now = performance.now();
    const { account } = admission.payer;
    account.unknownAt = now;
    if (now - since > GIVEN_BACK_MS) throw notServing();
    const asking = this.#asking.get(account);
    if (asking && asking.admission !== admission) {
      await asking.over;
      return this.#askOnce(admission, since);
    }
    if (asking) {
      await pause(POLL_MS);
      return this.#askOnce(admission, since);
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#asking.set(account, { admission, over: promise });
    try {
      await pause(POLL_MS);
      return await this.#askOnce(admission, since);
    } finally {
      this.#asking.delete(account);
      resolve();
    }
  }

  #askOnce(admission: Admission, since: number): Taken | Promise<Taken> {
    if (admission.caller.destroyed) throw new CallerGoneError();
    return this.#mode.shared ? this.#ask(admission, since) : this.#takeShare(admission);
  }

  #takeShare(admission: Admission): Admission | Blocked | Promise<Admission | Blocked> {
    if (this.#share.knows(admission)) return this.#decide(admission);
    return this.deps.readAgain(admission.payer).then(() => this.#decide(admission));
  }

  /** Decides locally. Reports of it keep Redis right for the others as soon as it responds. */
  #decide(admission: Admission): Admission | Blocked {
    const taken = this.#share.take(admission, this.#mode.shared);
    if (typeof taken !== 'string' && this.#mode.connected)
      this.#turns.tell(admission.payer, admission.hold, 0n, 0);
    return taken;
  }
}

function settle(
  decide: () => Taken | Promise<Taken>,
  resolve: (taken: Taken | Promise<Taken>) => void,
  reject: (error: unknown) => void,
): void {
  try {
    resolve(decide());
  } catch (error) {
    reject(error);
  }
}
