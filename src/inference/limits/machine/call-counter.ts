import { type Clock, DAY_MS, utcDay } from '../../../lib/clock.js';
import { localCounters } from '../local-counters.js';
import { AdmissionError } from '../refusals.js';
import type { CountedEdge, CountedPayer } from './counted-edge.js';
import type { FrameWriter } from './frame-writer.js';
import type { AnswerFrame, ReportFrame, TakeFrame, Verdict } from './frames.js';
import { Leases, type Lessee, NOTHING } from './leases.js';

/** An edge that has joined, and the line to it. */
export interface JoinedEdge {
  readonly edge: CountedEdge;
  readonly writer: FrameWriter;
}

const NO_ANSWER = { id: 0, remaining: 0, resetMs: 0, ...NOTHING };
/** Why the limits of one edge refuse. */
const VERDICTS: Readonly<Record<string, Verdict>> = {
  insufficient_credits: 'poor',
  daily_cap_exceeded: 'capped',
};

/** Decides on calls for all edges of this machine, by the limits of a lone edge, and grants the leases of each edge. */
export class CallCounter {
  readonly #local: ReturnType<typeof localCounters>;
  readonly #leases: Leases;
  /** Of the last question that was answered `later`. */
  #lastLater = 0;

  constructor(
    clock: Clock,
    private readonly joined: ReadonlySet<JoinedEdge>,
    /** Whether leases may be granted at all. */
    private readonly mayAdmit: () => boolean,
  ) {
    this.#local = localCounters(clock, () => true);
    this.#leases = new Leases(clock, () => joined.size);
  }

  /** Answers whether a call may be admitted. */
  take(joined: JoinedEdge, frame: TakeFrame): void {
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

  /** Takes over what an edge has changed, and grants it a lease where it wants one. */
  report(joined: JoinedEdge, frame: ReportFrame): void {
    const payer = joined.edge.payers[frame.ref]!;
    const { account, day } = payer;
    const at = frame.day * DAY_MS;
    account.change(frame.holds, frame.charges, at);
    day.change(frame.holds, frame.charges, at);
    this.#learn(payer, frame);
    this.#leases.report(payer, frame);
    if (!frame.wants) return;
    const grant = this.mayAdmit() ? this.#leases.grant(this.#lessee(joined, payer)) : NOTHING;
    joined.writer.grant({ ref: frame.ref, remaining: this.#leases.remaining(payer), ...grant });
  }

  /** Takes back all leases. */
  recallAll(): void {
    for (const { edge } of this.joined)
      for (const payer of edge.payers) if (payer) this.#leases.recall(payer.account.state);
  }

  /** An edge stops: grants may have crossed what it has said. */
  stopped({ payers }: CountedEdge): void {
    for (const payer of payers) if (payer) this.#leases.forget(payer);
  }

  /** An edge no longer uses a payer. */
  forget(edge: CountedEdge, ref: number): void {
    const payer = edge.payers[ref];
    if (payer) this.#leases.forget(payer);
    edge.forget(ref);
  }

  /** An edge's line has ended. */
  left(edge: CountedEdge): void {
    const payers = edge.payers.filter((payer) => payer !== undefined);
    for (const payer of payers) this.#leases.abandon(payer);
    for (const payer of payers) this.#leases.ended(payer);
  }

  /** Decides once the edges have reported everything and returned all leases. */
  #decideLater(joined: JoinedEdge, payer: CountedPayer, frame: TakeFrame, untold: Lessee[]): void {
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
   * The other edges that have charged an account: they may have committed charges that they haven't reported yet, and that
   * are missing from the balance that this edge has read.
   */
  #untold(asker: JoinedEdge, { account }: CountedPayer): Lessee[] {
    const untold: Lessee[] = [];
    for (const joined of this.joined) {
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
  #decide(joined: JoinedEdge, payer: CountedPayer): AnswerFrame {
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
    const grant = this.mayAdmit() ? this.#leases.grant(this.#lessee(joined, payer)) : NOTHING;
    const { resetMs } = claim.rate!;
    return { verdict: 'ok', id: 0, remaining: this.#leases.remaining(payer), resetMs, ...grant };
  }

  /** What the edge has read from the database. */
  #learn({ account, day }: CountedPayer, frame: TakeFrame | ReportFrame): void {
    account.state.committed(frame.balance, frame.seq);
    day.state.committed(utcDay(frame.day * DAY_MS), frame.spend);
  }

  #lessee({ writer }: JoinedEdge, payer: CountedPayer): Lessee {
    return { payer, recall: (ref) => writer.recall(ref) };
  }
}
