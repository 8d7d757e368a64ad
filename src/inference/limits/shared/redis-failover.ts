import { performance } from 'node:perf_hooks';
import { type BackOff, jitteredMs } from '../../../lib/back-off.js';
import type { Logger } from '../../../lib/logger.js';
import { evictionFault } from '../../../lib/open-redis.js';
import type { Membership } from './edge-membership.js';
import { RedisHeartbeat } from './redis-heartbeat.js';
import { RedisLink, RedisUnavailableError } from './redis-link.js';
import type { RedisMetrics } from './redis-metrics.js';

export interface RedisFailoverOptions {
  url: string;
  timeoutMs?: number | undefined;
  beatMs?: number | undefined;
  edge: string;
  log: Logger;
  metrics: RedisMetrics;
  /** Redis can be reached again: reports all that this edge has open. Redis doesn't decide calls yet. */
  announce(): Promise<void>;
  /** The last step before Redis decides calls. */
  beforeShared(): Promise<void>;
  /** Redis has answered a heartbeat. */
  onHeard(): void;
  /** A heartbeat has returned the live edges. */
  onMembership(membership: Membership): void;
}

const FAILURES_TO_OPEN = 3;
const BEAT_MS = 1_000;
/** After this many heartbeats, every live edge has registered with an emptied Redis. */
const REGISTERED_BEATS = 1.5;
const PROBE: BackOff = { firstMs: 100, maxMs: 2_000 };
const PROBES_PER_CONNECTION = 3;

/**
 * Decides whether limits are shared or local: a circuit breaker, heartbeats, and recovery. `connected`: changes may be reported
 * to Redis. `shared`: Redis decides calls.
 */
export class RedisFailover {
  readonly link: RedisLink;
  readonly #heartbeat: RedisHeartbeat;
  connected = false;
  shared = false;
  /**
   * Increases with each loss of contact, so that late commands of an earlier epoch have no effect. The value is Redis's time
   * when the epoch began, which shows edges that counted this one as dead that it is back.
   */
  epoch = 1;
  /** How often sharing has ended. */
  outages = 0;
  #failures = 0;
  #probes = 0;
  #membership: Membership | undefined;
  #lostAt = 0;
  #everShared = false;
  /** Whether Redis has lost this edge's registration. */
  #isEmptied = false;
  /** Whether sharing ended only because other edges counted this one as dead. */
  #isFenced = false;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;
  #unusable: string | undefined;
  #policy: string | undefined;
  #onStarted: ((error?: Error) => void) | undefined;

  constructor(private readonly options: RedisFailoverOptions) {
    this.link = new RedisLink({
      url: options.url,
      timeoutMs: options.timeoutMs,
      onReady: (policy) => {
        this.#reportPolicy(policy);
        void this.#recover();
      },
      onUnusable: (error) => this.#reportUnusable(error),
      onLost: () => this.#open('the connection was lost', false),
    });
    this.#heartbeat = new RedisHeartbeat(this.link, options.edge, options.onHeard);
  }

  /**
   * Resolves once limits are shared, or after `timeoutMs`.
   * @throws RedisClusterError
   */
  async start(timeoutMs: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#onStarted = (error) => {
        clearTimeout(timer);
        if (error) reject(error);
        else resolve();
      };
    });
    this.#onStarted = undefined;
    if (!this.shared) this.#reportOutage('no response at startup');
  }

  succeeded(): void {
    this.#failures = 0;
  }

  failed(error: unknown): void {
    if (!(error instanceof RedisUnavailableError)) throw error;
    this.options.metrics.failed();
    if (this.connected && ++this.#failures >= FAILURES_TO_OPEN) this.#open(error.message, true);
  }

  /**
   * Redis is up but has lost this edge's reports. Without `isEmptied`, recovery finds out whether Redis was emptied or whether
   * other edges counted this one as dead, for example after a suspension.
   */
  dataLost(isEmptied = false): void {
    if (!this.shared) return;
    this.#isEmptied = isEmptied;
    this.#leave('Redis has lost the reports of this edge');
    this.#isFenced = true;
    void this.#recover();
  }

  /** Keeps the charges of dead edges, since their spools wait to be committed. */
  found(edges: readonly string[]): void {
    this.#heartbeat.found(edges);
  }

  /** Reports edges as dead, so that their holds no longer count. */
  fence(edges: readonly string[]): void {
    this.#heartbeat.fence(edges);
    if (this.shared) this.#beatNow();
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    // Commands stay in order, so the answer means that all earlier reports have arrived.
    if (this.connected) await this.#heartbeat.beat('end').catch(() => undefined);
    this.#stopped = true;
    this.connected = false;
    this.shared = false;
    await this.link.stop();
  }

  #open(reason: string, reconnect: boolean): void {
    if (this.#stopped) return;
    this.#leave(reason);
    if (reconnect) this.link.reconnect();
  }

  #leave(reason: string): void {
    clearTimeout(this.#timer);
    this.#isFenced = false;
    if (!this.connected && !this.shared) return;
    const wasShared = this.shared;
    this.connected = false;
    this.shared = false;
    this.epoch++;
    this.#failures = 0;
    if (!wasShared) return;
    this.outages++;
    this.#lostAt = performance.now();
    this.#reportOutage(reason);
  }

  /** Logs each error once, since the address is tried again and again. */
  #reportUnusable(error: Error): void {
    this.#onStarted?.(error);
    if (error.message === this.#unusable) return;
    this.#unusable = error.message;
    this.options.log.error({ reason: error.name }, error.message);
  }

  /** Logs each policy once. It may change while Redis runs. */
  #reportPolicy(policy = 'unknown'): void {
    if (policy === this.#policy) return;
    this.#policy = policy;
    const fault = evictionFault(policy === 'unknown' ? undefined : policy);
    this.options.metrics.evicts(fault !== undefined);
    if (fault) this.options.log.warn({ policy }, fault);
    else if (policy === 'unknown') this.options.log.debug({}, 'Redis does not report its maxmemory-policy');
  }

  #reportOutage(reason: string): void {
    this.options.metrics.shared(false);
    this.options.log.warn(
      { reason, edges: this.#membership?.alive ?? 1 },
      'Redis is unavailable; this edge enforces its share of each limit until it responds',
    );
  }

  /** Recovers: registers, reports everything, waits for the other edges, then shares. Ends if another epoch begins meanwhile. */
  async #recover(): Promise<void> {
    let { epoch } = this;
    try {
      // Other edges take a heartbeat as a sign that the edge has reported everything, so this one only looks.
      const first = await this.#heartbeat.beat('look');
      if (this.#stopped || epoch !== this.epoch) return;
      this.epoch = Math.max(epoch, first.now);
      epoch = this.epoch;
      if (!first.known) this.#isEmptied = true;
      this.connected = true;
      await this.options.announce();
      const membership = await this.#others(first, epoch);
      if (this.#stopped || epoch !== this.epoch) return;
      await this.options.beforeShared();
      if (this.#stopped || epoch !== this.epoch) return;
      this.#probes = 0;
      this.#isEmptied = false;
      this.#isFenced = false;
      this.#adopt(membership);
      this.shared = true;
      this.options.metrics.shared(true);
      const message = this.#everShared
        ? 'Redis is back; limits are shared again'
        : 'limits are shared through Redis';
      this.options.log.info({ edges: membership.alive }, message);
      this.#everShared = true;
      this.#onStarted?.();
      this.#scheduleBeat();
    } catch {
      if (!this.#stopped && epoch === this.epoch) this.#probeLater();
    }
  }

  #probeLater(): void {
    this.connected = false;
    this.#isFenced = false;
    this.epoch++;
    this.#probes++;
    if (this.#probes % PROBES_PER_CONNECTION === 0) {
      this.link.reconnect();
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#recover(), jitteredMs(PROBE, this.#probes));
    this.#timer.unref();
  }

  /** Waits for the other edges, which may have admitted calls that Redis doesn't know yet. */
  #others(first: Membership, epoch: number): Promise<Membership> {
    // If only this edge was away, the others have nothing to report.
    const othersReport = this.#everShared && (this.#isEmptied || !this.#isFenced);
    return this.#heartbeat.others({
      first,
      remembered: othersReport ? this.#membership : undefined,
      lostMs: performance.now() - this.#lostAt,
      leastMs: this.#everShared && this.#isEmptied ? REGISTERED_BEATS * this.beatMs : 0,
      isOver: () => this.#stopped || epoch !== this.epoch,
    });
  }

  /** The time between two heartbeats. */
  get beatMs(): number {
    return this.options.beatMs ?? BEAT_MS;
  }

  #adopt(membership: Membership): void {
    this.#membership = membership;
    this.options.onMembership(membership);
  }

  #scheduleBeat(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#beatNow(), this.beatMs);
    this.#timer.unref();
  }

  #beatNow(): void {
    clearTimeout(this.#timer);
    const { epoch } = this;
    this.#heartbeat.beat().then(
      (membership) => {
        // A script may have noticed the loss just before this heartbeat registered the edge again.
        if (!membership.known) this.#isEmptied = true;
        if (epoch !== this.epoch || !this.shared) return;
        this.succeeded();
        if (!membership.known || membership.wasSilent) {
          this.dataLost(!membership.known);
          return;
        }
        this.#adopt(membership);
        this.#scheduleBeat();
      },
      (error: unknown) => {
        if (epoch !== this.epoch || !this.shared) return;
        this.failed(error);
        if (this.shared) this.#scheduleBeat();
      },
    );
  }
}
