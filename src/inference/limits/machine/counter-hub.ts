import type { Duplex } from 'node:stream';
import { type Clock, utcDay } from '../../../lib/clock.js';
import type { Logger } from '../../../lib/logger.js';
import { CallCounter, type JoinedEdge } from './call-counter.js';
import { CountedEdge } from './counted-edge.js';
import { CountedStates } from './counted-states.js';
import { DeadEdges } from './dead-edges.js';
import { FrameWriter, textOf } from './frame-writer.js';
import { LINE_VERSION, readFrames } from './frames.js';
import { MessageCounter } from './message-counter.js';
import { SpentNetworks } from './spent-networks.js';
import type { CounterWords, EdgeWords } from './words.js';

interface Joined extends JoinedEdge {
  /** Whether it has told of strangers that it refused. */
  hasRefused: boolean;
  refuse(): void;
}

const SWEEP_MS = 30_000;

/**
 * Counts for all edges of this machine: the limits of a lone edge over what all of them have open. It knows that exactly,
 * because it is told every change since each edge began, in order; what an edge may do without a word counts as done. An edge
 * whose line ends is dead. Some of its calls may have been charged without a word, so all that it had open stays until its spool
 * is committed.
 */
export class CounterHub {
  readonly #states: CountedStates;
  readonly #calls: CallCounter;
  readonly #messages: MessageCounter;
  readonly #networks: SpentNetworks;
  readonly #joined = new Set<Joined>();
  readonly #dead: DeadEdges;
  #mayAdmit = true;
  readonly #sweeper: NodeJS.Timeout;

  constructor(
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.#states = new CountedStates(clock);
    this.#calls = new CallCounter(clock, this.#joined, () => this.#mayAdmit);
    this.#messages = new MessageCounter(clock, this.#states);
    this.#networks = new SpentNetworks(clock);
    this.#dead = new DeadEdges((edge) => this.#messages.release(edge));
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweeper.unref();
  }

  /** Counts for the edge at the other end. `onRefused` is called when its build has other messages, which aren't read. */
  join(stream: Duplex, onRefused: () => void = () => undefined): void {
    const refuse = (): void => {
      stream.destroy();
      onRefused();
    };
    const writer = new FrameWriter(stream);
    const joined: Joined = { edge: new CountedEdge(), writer, hasRefused: false, refuse };
    this.#joined.add(joined);
    readFrames(
      stream,
      {
        take: (frame) => this.#calls.take(joined, frame),
        report: (frame) => this.#calls.report(joined, frame),
        words: (words) => this.#hear(joined, words as EdgeWords),
      },
      () => writer.flush(),
    );
    stream.on('error', () => undefined);
    stream.on('end', () => stream.end());
    stream.once('close', () => this.#leave(joined));
    this.#tellState();
  }

  /** Whether calls may be admitted at all. */
  admit(mayAdmit: boolean, isRegained = false): void {
    if (mayAdmit === this.#mayAdmit && !isRegained) return;
    this.#mayAdmit = mayAdmit;
    this.#tellState(isRegained);
    if (!mayAdmit) this.#calls.recallAll();
  }

  stop(): void {
    clearInterval(this.#sweeper);
    this.#dead.stop();
  }

  /** Everything that is open, for tests: sums over all edges, by account. */
  open(accountId: string): { holds: bigint; charges: bigint; leased: bigint } {
    const { holds = 0n, pending = 0n, leased = 0n } = this.#states.account(accountId) ?? {};
    return { holds: holds - leased, charges: pending, leased };
  }

  #hear(joined: Joined, words: EdgeWords): void {
    const { edge, writer } = joined;
    switch (words.kind) {
      case 'edge':
        edge.id = words.id;
        if (words.version === LINE_VERSION) return;
        this.log.error('an edge of another build can not join: restart npm start');
        joined.refuse();
        return;
      case 'stops':
        edge.hasStopped = true;
        this.#calls.stopped(edge);
        return;
      case 'payer':
        edge.payers[words.ref] = this.#states.introduce(edge, words);
        return;
      case 'forget':
        this.#calls.forget(edge, words.ref);
        return;
      case 'replaced':
        for (const id of words.ids) this.#replaced(id);
        return;
      case 'found':
        for (const id of words.ids) this.#dead.found(id);
        return;
      case 'message':
        writer.words(this.#messages.take(edge, words) satisfies CounterWords);
        return;
      case 'messages':
        this.#messages.change(edge, words);
        return;
      case 'refused':
        this.#refused(joined, words.networks, words.units);
    }
  }

  #refused(joined: Joined, networks: readonly string[], units: number): void {
    const spent = this.#networks.count(networks, units);
    if (spent) this.#tellAll(spent);
    if (joined.hasRefused) return;
    joined.hasRefused = true;
    // It may have begun after others were told.
    const known = this.#networks.spent();
    if (known) joined.writer.words(known);
  }

  #tellState(isRegained = false): void {
    const edges = this.#joined.size;
    this.#tellAll({ kind: 'state', version: LINE_VERSION, mayAdmit: this.#mayAdmit, isRegained, edges });
  }

  #tellAll(words: CounterWords): void {
    const text = textOf(words);
    for (const { writer } of this.#joined) writer.text(text);
  }

  #leave(joined: Joined): void {
    const { edge } = joined;
    this.#joined.delete(joined);
    let isClean = edge.messages.size === 0;
    for (const part of edge.parts()) {
      // It had no open calls, and had reported everything.
      if (edge.hasStopped) part.dropHolds();
      isClean &&= part.holds === 0n && part.charges === 0n && part.leased === 0n;
    }
    this.#calls.left(edge);
    if (!isClean) {
      this.log.warn({ edge: edge.id }, 'an edge has ended before everything was committed');
      this.#dead.add(edge);
    }
    this.#tellState();
  }

  /** Another edge has committed what this one had recorded. */
  #replaced(id: string): void {
    // This message can arrive before the edge's connection ends.
    const isJoined = [...this.#joined].some(({ edge }) => edge.id === id);
    this.#dead.replaced(id, isJoined);
  }

  #sweep(): void {
    const edges = [...[...this.#joined].map(({ edge }) => edge), ...this.#dead.edges()];
    this.#states.sweep(edges);
    this.#messages.sweep(utcDay(this.clock.now()));
  }
}
