import type { Registry } from 'prom-client';
import type { Clock } from '../../../lib/clock.js';
import type { Logger } from '../../../lib/logger.js';
import type { FlushResult } from '../../../metering/usage-record.js';
import { type Payer, windowOf } from '../../payer.js';
import type { EdgeIdentity } from '../edge-identity.js';
import type { Admission, Blocked, Counters } from '../limits.js';
import { hold } from '../local-counters.js';
import { dailyCapExceeded, insufficientCredits, rateExceeded } from '../refusals.js';
import { DegradedQuota } from './degraded-quota.js';
import { RedisFailover } from './redis-failover.js';
import { RedisUnavailableError } from './redis-link.js';
import { RedisMessages } from './redis-messages.js';
import { createRedisMetrics } from './redis-metrics.js';
import { Reconciler } from './redis-reconciler.js';
import { type RedisVerdict, Reports } from './redis-reports.js';

export interface RedisCountersDeps {
  url: string;
  timeoutMs?: number | undefined;
  beatMs?: number | undefined;
  identity: EdgeIdentity;
  /** Reads the payer and its account from the database, if the database answers. */
  readAgain(payer: Payer): Promise<void>;
  clock: Clock;
  log: Logger;
  registry: Registry;
}

type Taken = Admission | Blocked;

/** How often the head of a queue asks again: other edges release holds without a message to this one. */
const POLL_MS = 20;
const START_WAIT_MS = 1_000;
const UNKNOWN_EDGES = 4;

/**
 * Counters in Redis, with one round trip per call. Every change is also kept in this process, which decides by its share while
 * Redis is away.
 */
export async function createRedisCounters(deps: RedisCountersDeps): Promise<Counters> {
  const counters = new RedisCounters(deps);
  await counters.start();
  return counters;
}

class RedisCounters implements Counters {
  readonly pollMs = POLL_MS;
  readonly #quota: DegradedQuota;
  readonly #failover: RedisFailover;
  readonly #reports: Reports;
  readonly #reconciler: Reconciler;
  readonly messages: RedisMessages;

  constructor(private readonly deps: RedisCountersDeps) {
    const metrics = createRedisMetrics(deps.registry);
    const edge = deps.identity.id;
    this.#quota = new DegradedQuota(deps.clock);
    this.#failover = new RedisFailover({
      url: deps.url,
      timeoutMs: deps.timeoutMs,
      beatMs: deps.beatMs,
      edge,
      log: deps.log,
      metrics,
      announce: async () => {
        await this.#reconciler.announce();
        await this.messages.announce();
        await this.#reconciler.announceRates();
      },
      beforeShared: () => this.#reconciler.announceLaterRates(),
      onHeard: () => {
        this.#quota.heardAt = deps.clock.now();
      },
      onMembership: (membership) => {
        this.#quota.edges = membership.alive;
        this.#reports.adopt(membership);
        metrics.edges(membership.alive);
      },
    });
    this.#reports = new Reports({ edge, failover: this.#failover, clock: deps.clock });
    this.#reconciler = new Reconciler(edge, this.#failover, this.#reports, deps.clock);
    this.messages = new RedisMessages({
      edge,
      failover: this.#failover,
      clock: deps.clock,
      // An edge that never reached Redis doesn't know how many edges there are.
      edges: () => (this.#quota.heardAt > 0 ? this.#quota.edges : UNKNOWN_EDGES),
    });
    deps.identity.onAdopted((ids) => this.#failover.found(ids));
    deps.identity.onCommitted((ids) => this.#failover.fence(ids));
  }

  get edges(): number {
    return this.#quota.edges;
  }

  async start(): Promise<void> {
    try {
      await this.#failover.start(START_WAIT_MS);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  take(admission: Admission): Taken | Promise<Taken> {
    this.#reconciler.touch(admission.payer);
    return this.#failover.shared ? this.#ask(admission) : this.#takeShare(admission);
  }

  changed(payer: Payer): void {
    this.#reconciler.touch(payer);
    if (this.#failover.connected) this.#reports.report(payer);
  }

  committed({ own }: FlushResult): void {
    if (!this.#failover.connected) return;
    // Until this is reported, other edges that have read the balance count these charges twice.
    for (const { keyId, widgetId, cost } of own) {
      const payer = cost === 0n ? undefined : this.#reconciler.payerOf((keyId ?? widgetId)!);
      if (payer) this.#reports.report(payer);
    }
  }

  async stop(): Promise<void> {
    this.#reconciler.stop();
    await this.#reports.stop();
    this.messages.stop();
    await this.#failover.stop();
  }

  async #ask(admission: Admission): Promise<Taken> {
    const { account, day, dailyLimit } = admission.payer;
    const known = [account.share?.uses, day.share?.uses] as const;
    account.asking++;
    day.asked += admission.hold;
    try {
      const verdict = await this.#reports.ask(admission);
      this.#failover.succeeded();
      if (verdict.dataLost) this.#failover.dataLost();
      if (verdict.kind === 'ok') {
        // Redis has counted the calls admitted out of the share and still has room, so the next share may be measured.
        if (account.share?.uses === known[0]) account.share = undefined;
        if (dailyLimit !== null && day.share?.uses === known[1]) day.share = undefined;
      }
      return this.#decided(admission, verdict);
    } catch (error) {
      if (!(error instanceof RedisUnavailableError)) throw error;
      this.#failover.failed(error);
      return this.#takeShare(admission);
    } finally {
      account.asking--;
      day.asked -= admission.hold;
    }
  }

  /** @throws AdmissionError */
  #decided(admission: Admission, { kind, count, resetMs }: RedisVerdict): Taken | Promise<Taken> {
    const window = windowOf(admission.payer);
    const { limit } = window;
    admission.isReserved = kind === 'balance_held_reserved' || kind === 'cap_held_reserved';
    switch (kind) {
      case 'ok':
        window.note(this.deps.clock.now());
        admission.rate = { allowed: true, limit, remaining: Math.max(0, limit - count), resetMs };
        return hold(admission);
      case 'fenced':
        return this.#takeShare(admission);
      case 'insufficient_balance':
        throw insufficientCredits();
      case 'cap_exceeded':
        throw dailyCapExceeded();
      case 'rate':
        throw rateExceeded({ allowed: false, limit, remaining: 0, resetMs: Math.max(1, resetMs) });
      case 'balance_held_reserved':
        return 'balance_held';
      case 'cap_held_reserved':
        return 'cap_held';
      default:
        return kind;
    }
  }

  #takeShare(admission: Admission): Taken | Promise<Taken> {
    if (this.#quota.knows(admission)) return this.#decide(admission);
    return this.deps.readAgain(admission.payer).then(() => this.#decide(admission));
  }

  /** Decides by this edge's share, and reports the result as soon as Redis can be reached. */
  #decide(admission: Admission): Taken {
    const taken = this.#quota.take(admission, this.#failover.shared);
    if (typeof taken !== 'string' && this.#failover.connected) this.#reports.report(admission.payer);
    return taken;
  }
}
