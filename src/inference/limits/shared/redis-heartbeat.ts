import { performance } from 'node:perf_hooks';
import {
  FENCED_MS,
  FOUND_MS,
  MEMBERSHIP_TTL_MS,
  type Membership,
  readMembership,
  SILENT_MS,
} from './edge-membership.js';
import { PATIENT_TIMEOUT_MS, type RedisLink, RedisUnavailableError } from './redis-link.js';

const MEMBERSHIP_KEY = 'gw:edges';
/** How long to wait until other edges have reported their open amounts. */
const OTHERS_MS = 3_000;
/** The same if Redis has forgotten one of them: until that edge counts as dead. */
const FORGOTTEN_MS = SILENT_MS;
const OTHERS_POLL_MS = 100;

export interface OthersOptions {
  first: Membership;
  /** The membership before the outage: its live edges are awaited. */
  remembered: Membership | undefined;
  /** How long ago the outage began. */
  lostMs: number;
  /** The shortest wait. */
  leastMs: number;
  /** Whether the wait was cancelled. */
  isOver(): boolean;
}

/** Sends this edge's heartbeats to Redis, reports dead edges, and reads which edges are alive. */
export class RedisHeartbeat {
  /** Redis's time according to its last response. */
  #heardAt = 0;
  /** Dead edges that have yet to be reported. */
  readonly #dead = new Set<string>();
  /** Edges that `fence` was ever called with. */
  readonly #fenced = new Set<string>();
  /** Dead edges whose spools wait to be committed. */
  readonly #found = new Set<string>();

  constructor(
    private readonly link: RedisLink,
    private readonly edge: string,
    /** Redis has answered a heartbeat. */
    private readonly onHeard: () => void,
  ) {}

  /** With the next heartbeat, keeps these edges from being gone, unless they were fenced. */
  found(edges: readonly string[]): void {
    for (const edge of edges) this.#found.add(edge);
  }

  /** With the next heartbeat, reports these edges as dead. */
  fence(edges: readonly string[]): void {
    for (const edge of edges) {
      this.#dead.add(edge);
      this.#fenced.add(edge);
    }
  }

  /**
   * Sends a heartbeat. `look` only reads the membership; `end` announces that this edge shuts down.
   * @throws RedisUnavailableError
   */
  async beat(kind: 'live' | 'look' | 'end' = 'live', timeoutMs?: number): Promise<Membership> {
    const heardAt = this.#heardAt;
    if (this.#dead.size > 0) await this.#fenceDead(timeoutMs);
    if (this.#found.size > 0) await this.#keepFound(timeoutMs);
    const at = kind === 'end' ? heardAt - SILENT_MS : heardAt;
    const args = [this.edge, MEMBERSHIP_TTL_MS, kind, at];
    const answer = await this.link.run<(string | number)[]>('beat', [MEMBERSHIP_KEY], args, timeoutMs);
    const membership = readMembership(answer, this.edge);
    this.#heardAt = membership.now;
    this.onHeard();
    return membership;
  }

  /**
   * Waits until every edge that was alive has sent a heartbeat since the outage began: until then, Redis may lack open amounts
   * of that edge. An edge that Redis doesn't remember is awaited until it counts as dead. This edge doesn't know edges that
   * started after its last heartbeat; after Redis was emptied, `leastMs` gives them time to register.
   * @throws RedisUnavailableError
   */
  async others({ first, remembered, lostMs, leastMs, isOver }: OthersOptions): Promise<Membership> {
    const began = performance.now();
    const lostAt = first.now - lostMs;
    const awaited = remembered ? this.#aliveIn(remembered) : [];
    for (let { known } = first; ; known = true) {
      const membership = await this.beat('live', PATIENT_TIMEOUT_MS);
      if (known && !membership.known) throw new RedisUnavailableError('Redis was emptied again');
      const missing = awaited.filter(
        (id) => (membership.beats.get(id) ?? 0) < lostAt && !this.#fenced.has(id),
      );
      const longestMs = missing.every((id) => membership.beats.has(id)) ? OTHERS_MS : FORGOTTEN_MS;
      const waitedMs = performance.now() - began;
      const isComplete = missing.length === 0 ? waitedMs >= leastMs : waitedMs > longestMs;
      if (isComplete || isOver()) return membership;
      await new Promise((resolve) => setTimeout(resolve, OTHERS_POLL_MS).unref());
    }
  }

  /** Ids of the other live edges. */
  #aliveIn({ beats, now }: Membership): string[] {
    return [...beats].filter(([id, at]) => id !== this.edge && now - at < SILENT_MS).map(([id]) => id);
  }

  async #fenceDead(timeoutMs?: number): Promise<void> {
    const dead = [...this.#dead];
    await this.link.run('fence', [MEMBERSHIP_KEY], [FENCED_MS, ...dead], timeoutMs);
    for (const edge of dead) this.#dead.delete(edge);
  }

  async #keepFound(timeoutMs?: number): Promise<void> {
    const kept = [...this.#found].filter((edge) => !this.#fenced.has(edge));
    if (kept.length > 0) await this.link.run('keep', [MEMBERSHIP_KEY], [FOUND_MS, ...kept], timeoutMs);
    this.#found.clear();
  }
}
