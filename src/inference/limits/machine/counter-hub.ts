import type { Duplex } from 'node:stream';
import { type Clock, DAY_MS, utcDay } from '../../../lib/clock.js';
import type { Logger } from '../../../lib/logger.js';
import { localCounters } from '../local-counters.js';
import { AdmissionError } from '../refusals.js';
import { CountedEdge, type CountedPayer } from './counted-edge.js';
import { CountedStates } from './counted-states.js';
import { DeadEdges } from './dead-edges.js';
import { FrameWriter, textOf } from './frame-writer.js';
import {
  type AnswerFrame,
  LINE_VERSION,
  type ReportFrame,
  readFrames,
  type TakeFrame,
  type Verdict,
} from './frames.js';
import { Leases, type Lessee, NOTHING } from './leases.js';
import { MessageCounter } from './message-counter.js';
import { SpentNetworks } from './spent-networks.js';
import type { CounterWords, EdgeWords } from './words.js';

interface Joined {
  edge: CountedEdge;
  writer: FrameWriter;
  /** Whether it has told of strangers that it refused. */
  hasRefused: boolean;
  refuse(): void;
}

const SWEEP_MS = 30_000;
const NO_ANSWER = { id: 0, remaining: 0, resetMs: 0, ...NOTHING };
/** Why the limits of one edge refuse. */
const VERDICTS: Readonly<Record<string, Verdict>> = {
  insufficient_credits: 'poor',
  daily_cap_exceeded: 'capped',
};

/**
 * Counts for all edges of this machine: the limits of a lone edge over what all of them have open. It knows that exactly,
 * because it is told every change since each edge began, in order; what an edge may do without a word counts as done. An edge
 * whose line ends is dead. Some of its calls may have been charged without a word, so all that it had open stays until its spool
 * is committed.
 */
export class CounterHub {
  readonly #states: CountedStates;
  readonly #local: ReturnType<typeof localCounters>;
  readonly #messages: MessageCounter;
  readonly #leases: Leases;
  /** Of the last question that was answered `later`. */
  #lastLater = 0;
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
    this.#local = localCounters(clock, () => true);
    this.#messages = new MessageCounter(clock, this.#states);
    this.#leases = new Leases(clock, () => this.#joined.size);
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
        take: (frame) => this.#take(joined, frame),
        report: (frame) => this.#report(joined, frame),
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
    if (!mayAdmit) this.#recallAll();
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

  #take(joined: Joined, frame: TakeFrame): void {
    const payer = joined.edge.payers[frame.ref]!;
    this.#learn(payer, frame);
    this.#fill(payer, frame);
    if (this.#leases.isOut(payer) && !this.#leases.hasRoom(payer, frame.hold)) {
      this.#decideLater(joined, payer, frame, []);
      return;
    }
    const answer = this.#decide(joined, payer);
    const isCharged = answer.verdict === 'poor' || answer.verdict === 'capped';
    const untold = isCharged ? this.#untold(joined, payer) : [];
    if (untold.length > 0 && this.#leases.mayAsk(payer)) this.#decideLater(joined, payer, frame, untold);
    else joined.writer.answer(answer);
  }

  /** Decides once edges have told everything and given everything back. */
  #decideLater(joined: Joined, payer: CountedPayer, frame: TakeFrame, untold: Lessee[]): void {
    const id = ++this.#lastLater;
    joined.writer.answer({ ...NO_ANSWER, verdict: 'later', id });
    const decide = (isKnown: boolean): void => {
      this.#fill(payer, frame);
      const answer = isKnown ? this.#decide(joined, payer) : { ...NO_ANSWER, verdict: 'unknown' as const };
      joined.writer.answer({ ...answer, id });
    };
    this.#leases.wait({ lessee: this.#lessee(joined, payer), hold: frame.hold, decide }, untold);
  }

  /**
   * What other edges have charged to an account: they may have committed it and not told yet, while the balance that another
   * one has read is without it.
   */
  #untold(asker: Joined, { account }: CountedPayer): Lessee[] {
    const untold: Lessee[] = [];
    for (const joined of this.#joined) {
      const part = joined === asker ? undefined : joined.edge.accounts.get(account.state.id);
      if (!part || part.charges === 0n) continue;
      for (const payer of part.payers) untold.push(this.#lessee(joined, payer));
    }
    return untold;
  }

  #fill({ window, claim }: CountedPayer, frame: TakeFrame): void {
    window.window.resize(frame.limit);
    claim.hold = frame.hold;
    claim.payer.dailyLimit = frame.cap;
  }

  /** Decides on what is filled in. */
  #decide(joined: Joined, payer: CountedPayer): AnswerFrame {
    const { claim, account, day } = payer;
    try {
      const taken = this.#local.take(claim);
      if (typeof taken === 'string') return { ...NO_ANSWER, verdict: taken };
    } catch (error) {
      if (!(error instanceof AdmissionError)) throw error;
      const verdict = VERDICTS[error.code] ?? 'rate';
      return { ...NO_ANSWER, verdict, resetMs: Math.ceil(error.rate?.resetMs ?? 0) };
    }
    account.holds += claim.hold;
    day.holds += claim.hold;
    const grant = this.#mayAdmit ? this.#leases.grant(this.#lessee(joined, payer)) : NOTHING;
    const { resetMs } = claim.rate!;
    return { verdict: 'ok', id: 0, remaining: this.#leases.remaining(payer), resetMs, ...grant };
  }

  #report(joined: Joined, frame: ReportFrame): void {
    const payer = joined.edge.payers[frame.ref]!;
    const { account, day } = payer;
    const at = frame.day * DAY_MS;
    account.change(frame.holds, frame.charges, at);
    day.change(frame.holds, frame.charges, at);
    this.#learn(payer, frame);
    this.#leases.report(payer, frame);
    if (!frame.wants) return;
    const grant = this.#mayAdmit ? this.#leases.grant(this.#lessee(joined, payer)) : NOTHING;
    joined.writer.grant({ ref: frame.ref, remaining: this.#leases.remaining(payer), ...grant });
  }

  /** What the edge has read from the database. */
  #learn({ account, day }: CountedPayer, frame: TakeFrame | ReportFrame): void {
    account.state.committed(frame.balance, frame.seq);
    day.state.committed(utcDay(frame.day * DAY_MS), frame.spend);
  }

  #lessee({ writer }: Joined, payer: CountedPayer): Lessee {
    return { payer, recall: (ref) => writer.recall(ref) };
  }

  #recallAll(): void {
    for (const { edge } of this.#joined)
      for (const payer of edge.payers) if (payer) this.#leases.recall(payer.account.state);
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
        // Grants may have crossed this.
        for (const payer of edge.payers) if (payer) this.#leases.forget(payer);
        return;
      case 'payer':
        edge.payers[words.ref] = this.#states.introduce(edge, words);
        return;
      case 'forget':
        this.#forget(edge, words.ref);
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

  #forget(edge: CountedEdge, ref: number): void {
    const payer = edge.payers[ref];
    if (payer) this.#leases.forget(payer);
    edge.forget(ref);
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
    const payers = edge.payers.filter((payer) => payer !== undefined);
    for (const payer of payers) this.#leases.abandon(payer);
    for (const payer of payers) this.#leases.ended(payer);
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
