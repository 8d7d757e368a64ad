import type { Duplex } from 'node:stream';
import { type Clock, DAY_MS, utcDay } from '../../../lib/clock.js';
import type { Logger } from '../../../lib/logger.js';
import { NetworkBudget } from '../../../lib/network-budget.js';
import { localCounters } from '../local-counters.js';
import { AdmissionError } from '../refusals.js';
import { CountedEdge } from './counted-edge.js';
import { CountedStates } from './counted-states.js';
import { type ChangeFrame, FrameWriter, readFrames, type TakeFrame, type Verdict } from './frames.js';
import { MessageCounter } from './message-counter.js';
import type { CounterWords, EdgeWords } from './words.js';

interface Joined {
  edge: CountedEdge;
  writer: FrameWriter;
}

/** What a dead edge had recorded counts for so long, unless another says that it has committed it. */
const GONE_MS = 120_000;
/** Every edge has read the balances again by then (key-cache.ts). */
const BURIED_MS = 10_000;
const SWEEP_MS = 30_000;
/** Why the limits of one edge refuse. */
const VERDICTS: Readonly<Record<string, Verdict>> = {
  insufficient_credits: 'poor',
  daily_cap_exceeded: 'capped',
};

/**
 * Counts for all edges of this machine: the limits of a lone edge over what all of them have open. It knows that exactly,
 * because it has been told every change since each edge began, in order. An edge whose line ends is dead: its holds go with
 * it, and what it had recorded stays until it is committed.
 */
export class CounterHub {
  readonly #states: CountedStates;
  readonly #local: ReturnType<typeof localCounters>;
  readonly #messages: MessageCounter;
  readonly #networks: NetworkBudget;
  readonly #joined = new Set<Joined>();
  readonly #dead = new Map<CountedEdge, NodeJS.Timeout>();
  readonly #replaced = new Set<string>();
  #mayAdmit = true;
  readonly #sweeper: NodeJS.Timeout;

  constructor(
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.#states = new CountedStates(clock);
    this.#local = localCounters(clock, () => true);
    this.#messages = new MessageCounter(clock, this.#states);
    this.#networks = new NetworkBudget(clock, '');
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweeper.unref();
  }

  /** Counts for the edge at the other end. */
  join(stream: Duplex): void {
    const joined: Joined = { edge: new CountedEdge(), writer: new FrameWriter(stream) };
    const { edge, writer } = joined;
    this.#joined.add(joined);
    readFrames(
      stream,
      {
        take: (frame) => this.#take(joined, frame),
        change: (frame) => this.#change(edge, frame),
        words: (words) => this.#hear(joined, words as EdgeWords),
      },
      () => writer.flush(),
    );
    stream.on('error', () => undefined);
    stream.on('end', () => stream.end());
    stream.once('close', () => this.#leave(joined));
    this.#tellAll();
  }

  /** Whether calls may be admitted at all. */
  admit(mayAdmit: boolean, isRegained = false): void {
    if (mayAdmit === this.#mayAdmit && !isRegained) return;
    this.#mayAdmit = mayAdmit;
    this.#tellAll(isRegained);
  }

  stop(): void {
    clearInterval(this.#sweeper);
    for (const timer of this.#dead.values()) clearTimeout(timer);
  }

  /** Everything that is open, for tests: sums over all edges, by account. */
  open(accountId: string): { holds: bigint; charges: bigint } {
    const { holds = 0n, pending = 0n } = this.#states.account(accountId) ?? {};
    return { holds, charges: pending };
  }

  #take({ edge, writer }: Joined, frame: TakeFrame): void {
    const { account, day, window, claim } = edge.payers[frame.ref]!;
    account.state.committed(frame.balance, frame.seq);
    day.state.committed(utcDay(frame.day * DAY_MS), frame.spend);
    window.resize(frame.limit);
    claim.hold = frame.hold;
    claim.payer.dailyLimit = frame.cap;
    try {
      const taken = this.#local.take(claim);
      if (typeof taken === 'string') {
        writer.answer(taken, 0, 0);
        return;
      }
      account.holds += frame.hold;
      day.holds += frame.hold;
      writer.answer('ok', claim.rate!.remaining, claim.rate!.resetMs);
    } catch (error) {
      if (!(error instanceof AdmissionError)) throw error;
      writer.answer(VERDICTS[error.code] ?? 'rate', 0, Math.ceil(error.rate?.resetMs ?? 0));
    }
  }

  #change(edge: CountedEdge, frame: ChangeFrame): void {
    const { account, day } = edge.payers[frame.ref]!;
    account.change(frame.holds, frame.charges);
    day.change(frame.holds, frame.charges);
    account.state.committed(frame.balance, frame.seq);
    day.state.committed(utcDay(frame.day * DAY_MS), frame.spend);
  }

  #hear({ edge, writer }: Joined, words: EdgeWords): void {
    switch (words.kind) {
      case 'edge':
        edge.id = words.id;
        return;
      case 'payer':
        edge.payers[words.ref] = this.#states.introduce(edge, words);
        return;
      case 'forget':
        edge.forget(words.ref);
        return;
      case 'replaced':
        for (const id of words.ids) this.#bury(id);
        return;
      case 'message':
        writer.words(this.#messages.take(edge, words) satisfies CounterWords);
        return;
      case 'messages':
        this.#messages.change(edge, words);
        return;
      case 'refused':
        this.#refused(words.networks);
    }
  }

  #refused(networks: readonly string[]): void {
    this.#networks.count(networks);
    const spent = this.#networks.spentOf(networks);
    if (spent.length === 0) return;
    const words: CounterWords = { kind: 'spent', minute: this.#networks.minute, networks: spent };
    for (const { writer } of this.#joined) writer.words(words);
  }

  #tellAll(isRegained = false): void {
    const edges = this.#joined.size;
    const words: CounterWords = { kind: 'state', mayAdmit: this.#mayAdmit, isRegained, edges };
    for (const { writer } of this.#joined) writer.words(words);
  }

  #leave(joined: Joined): void {
    const { edge } = joined;
    this.#joined.delete(joined);
    let charges = 0n;
    for (const part of edge.parts()) {
      part.change(-part.holds, 0n);
      charges += part.charges;
    }
    const isClean = charges === 0n && edge.messages.size === 0;
    if (!isClean) {
      this.log.warn({ edge: edge.id }, 'an edge has ended before everything was committed');
      this.#buryIn(edge, this.#replaced.has(edge.id) ? BURIED_MS : GONE_MS);
    }
    this.#tellAll();
  }

  #bury(id: string): void {
    for (const edge of this.#dead.keys()) if (edge.id === id) this.#buryIn(edge, BURIED_MS);
    // Whoever says so may be faster than the end of the line.
    for (const { edge } of this.#joined) if (edge.id === id) this.#replaced.add(id);
  }

  #buryIn(edge: CountedEdge, ms: number): void {
    clearTimeout(this.#dead.get(edge));
    const timer = setTimeout(() => {
      this.#dead.delete(edge);
      this.#replaced.delete(edge.id);
      for (const part of edge.parts()) part.change(0n, -part.charges);
      this.#messages.release(edge);
    }, ms);
    timer.unref();
    this.#dead.set(edge, timer);
  }

  #sweep(): void {
    const edges = [...[...this.#joined].map(({ edge }) => edge), ...this.#dead.keys()];
    this.#states.sweep(edges);
    this.#messages.sweep(utcDay(this.clock.now()));
  }
}
