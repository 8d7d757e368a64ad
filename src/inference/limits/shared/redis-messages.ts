import { type Clock, utcDay } from '../../../lib/clock.js';
import type { MessageCount, MessageQuestion, MessageVerdict, SharedMessages } from '../shared-messages.js';
import type { RedisFailover } from './redis-failover.js';
import { tagOf, widgetRateKey } from './redis-keys.js';

/** Spools of dead processes are committed after this time (`edge-membership.ts`). */
const KEEP_MS = 120_000;
const RECONCILE_MS = 1_000;
const TTL_MS = 25 * 3_600_000;

interface Deps {
  edge: string;
  failover: RedisFailover;
  clock: Clock;
  /** Number of edges that share the limits, according to the last heartbeat. */
  edges(): number;
}

type Answer = [kind: MessageVerdict['kind'] | 'read', waitMs: number];

interface Share {
  day: string;
  perDay: number;
  /** Upper bound of all messages ever admitted. */
  ceiling: number;
  /** The outage in which the share was measured. */
  outage: number;
}

/** A visitor's place that was given back: the sets that count it, and its member in them. */
interface Returned {
  keys: string[];
  member: string;
}

/**
 * Counts messages in Redis, one request at a time for each widget: a request reports how many messages the edge has open, which
 * isn't known while another request is undecided. Without Redis, each edge admits its share of what is left.
 */
export class RedisMessages implements SharedMessages {
  readonly #tails = new Map<string, Promise<unknown>>();
  /** Undecided requests, by widget. */
  readonly #asking = new Map<string, number>();
  readonly #returned = new Map<string, Returned[]>();
  /** Widgets of which Redis may have open messages. */
  readonly #known = new Map<string, MessageCount>();
  /** What may be admitted without Redis, by widget. */
  readonly #shares = new Map<string, Share>();
  readonly #reconcile: NodeJS.Timeout;

  constructor(private readonly deps: Deps) {
    this.#reconcile = setInterval(() => this.#sweep(), RECONCILE_MS);
    this.#reconcile.unref();
  }

  take(count: MessageCount, question: MessageQuestion): Promise<MessageVerdict> {
    this.#known.set(count.widgetId, count);
    this.#note(count, 1);
    return this.#inTurn(count, async () => {
      const verdict = await this.#ask(count, question);
      this.#note(count, -1);
      if (verdict.kind !== 'ok') question.onRefused();
      return verdict;
    });
  }

  changed(count: MessageCount, returned?: MessageQuestion): void {
    if (!this.deps.failover.connected) return;
    const due = this.#returned.get(count.widgetId);
    const more = returned?.visitor ? [this.#placeOf(count, returned)] : [];
    if (due) {
      due.push(...more);
      return;
    }
    this.#returned.set(count.widgetId, more);
    this.#inTurn(count, () => this.#report(count)).catch((error: unknown) =>
      this.deps.failover.failed(error),
    );
  }

  /** Reports all open messages. */
  async announce(): Promise<void> {
    await Promise.all(
      [...this.#known.values()].map((count) => this.#inTurn(count, () => this.#report(count))),
    );
  }

  stop(): void {
    clearInterval(this.#reconcile);
  }

  #inTurn<T>(count: MessageCount, job: () => Promise<T>): Promise<T> {
    const { widgetId } = count;
    const result = (this.#tails.get(widgetId) ?? Promise.resolve()).then(job);
    const tail = result.catch(() => undefined);
    this.#tails.set(widgetId, tail);
    void tail.then(() => {
      if (this.#tails.get(widgetId) === tail) this.#tails.delete(widgetId);
    });
    return result;
  }

  #note({ widgetId }: MessageCount, change: number): void {
    const asking = (this.#asking.get(widgetId) ?? 0) + change;
    if (asking === 0) this.#asking.delete(widgetId);
    else this.#asking.set(widgetId, asking);
  }

  /** Open messages, excluding pending requests. */
  #openOf(count: MessageCount): number {
    return Math.max(0, count.open(this.#day) - (this.#asking.get(count.widgetId) ?? 0));
  }

  /** All messages ever admitted, excluding pending requests. */
  #givenBy(count: MessageCount): number {
    return count.given() - (this.#asking.get(count.widgetId) ?? 0);
  }

  async #ask(count: MessageCount, question: MessageQuestion): Promise<MessageVerdict> {
    const { failover } = this.deps;
    if (!failover.shared) return this.#alone(count, question);
    try {
      let [kind, waitMs] = await this.#run(count, question, false);
      if (kind === 'read') {
        await question.readAgain();
        [kind, waitMs] = await this.#run(count, question, true);
      }
      failover.succeeded();
      this.#shares.delete(count.widgetId);
      return { kind: kind as MessageVerdict['kind'], waitMs };
    } catch (error) {
      failover.failed(error);
      return this.#alone(count, question);
    }
  }

  #run(count: MessageCount, question: MessageQuestion, hasRead: boolean): Promise<Answer> {
    const keys = this.#keysOf(count, question);
    const args = [...this.#argumentsOf(count, question), hasRead ? '1' : ''];
    return this.deps.failover.link.run<Answer>('takeMessage', keys, args);
  }

  /**
   * Admits messages out of this edge's share of what is left according to the database, measured once per outage. Until Redis
   * has counted its messages, a share is only lowered: it may have been measured while this edge knew of no other.
   */
  async #alone(count: MessageCount, { perDay, readAgain }: MessageQuestion): Promise<MessageVerdict> {
    const day = this.#day;
    const { outages: outage } = this.deps.failover;
    let share = this.#shares.get(count.widgetId);
    if (share?.day !== day || share.perDay !== perDay || share.outage !== outage) {
      const former = share?.day === day && share.perDay === perDay ? share.ceiling : Number.POSITIVE_INFINITY;
      await readAgain();
      const left = perDay - count.committed(day) - this.#openOf(count);
      const part = Math.floor(Math.max(0, left) / this.deps.edges());
      const ceiling = Math.min(former, this.#givenBy(count) + part);
      share = { day, perDay, ceiling, outage };
      this.#shares.set(count.widgetId, share);
    }
    return { kind: this.#givenBy(count) < share.ceiling ? 'ok' : 'day', waitMs: 0 };
  }

  async #report(count: MessageCount): Promise<void> {
    const { edge, failover } = this.deps;
    const returned = this.#returned.get(count.widgetId) ?? [];
    this.#returned.delete(count.widgetId);
    const open = this.#openOf(count);
    const keys = [this.#messagesKey(count), ...returned.flatMap((place) => place.keys)];
    const members = returned.flatMap(({ member, keys: sets }) => sets.map(() => member));
    const args = [edge, open, count.committed(this.#day), TTL_MS, ...members];
    await failover.link.run('reportMessages', keys, args);
  }

  get #day(): string {
    return utcDay(this.deps.clock.now());
  }

  #messagesKey({ accountId, widgetId }: MessageCount): string {
    return `${tagOf(accountId)}:messages:${widgetId}:${this.#day}`;
  }

  #visitorKeys({ accountId }: MessageCount, names: readonly string[]): string[] {
    return names.map((name) => `${tagOf(accountId)}:visitor:${name}:${this.#day}`);
  }

  #placeOf(count: MessageCount, { id, visitor }: MessageQuestion): Returned {
    return { keys: this.#visitorKeys(count, visitor?.names ?? []), member: id };
  }

  #keysOf(count: MessageCount, { visitor }: MessageQuestion): string[] {
    const messages = this.#messagesKey(count);
    const visitorKeys = visitor ? this.#visitorKeys(count, visitor.names) : [messages, messages];
    return [messages, widgetRateKey(count.accountId, count.widgetId), ...visitorKeys];
  }

  #argumentsOf(
    count: MessageCount,
    { id, perDay, perMinute, visitor }: MessageQuestion,
  ): (string | number)[] {
    const { session, address } = visitor?.limits ?? {};
    return [
      ...[this.deps.edge, this.#openOf(count), count.committed(this.#day), perDay, perMinute],
      ...[id, KEEP_MS, TTL_MS],
      ...[session?.perDay ?? '', session?.perMinute ?? '', address?.perDay ?? '', address?.perMinute ?? ''],
    ];
  }

  #sweep(): void {
    for (const [id, count] of this.#known) {
      if (count.open(this.#day) > 0) this.changed(count);
      else if (this.deps.failover.shared) {
        this.#known.delete(id);
        this.#shares.delete(id);
      }
    }
  }
}
