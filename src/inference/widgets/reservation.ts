import type { Money } from '../../lib/money.js';
import type { Meter, UsageRecord } from '../../metering/usage-record.js';
import type { MessageQuestion, SharedMessages } from '../limits/shared-messages.js';
import { MESSAGE, type WidgetState } from './widget-state.js';

type CallMeter = Pick<Meter, 'begin' | 'finish'>;

interface Deps {
  state: WidgetState;
  /** Takes a place of the visitor; undefined if visitors aren't limited. */
  takeVisitor(): { undo(): void } | undefined;
  /** The places counted over all edges, if there are several. */
  shared: SharedMessages | undefined;
  onAnswered(cost: Money): void;
}

/** The place of one message within its widget's limits. Becomes permanent once the message is answered. */
export class Reservation {
  readonly #visitor: { undo(): void } | undefined;
  #admitted = false;
  #over = false;
  /** The request by which the message was counted over all edges. */
  #granted: MessageQuestion | undefined;

  constructor(private readonly deps: Deps) {
    const { state } = deps;
    state.messages.holds += MESSAGE;
    state.waiting++;
    this.#visitor = deps.takeVisitor();
  }

  /** The message is counted over all edges. */
  granted(question: MessageQuestion): void {
    this.#granted = question;
  }

  /** The message's call has got its place in the minute. */
  admitted(): void {
    if (this.#admitted) return;
    this.#admitted = true;
    this.deps.state.waiting--;
  }

  /**
   * Gives back the place, since nothing was answered. For a visitor who left, the message still counts: otherwise one visitor
   * could use up the minutes of all others for nothing.
   */
  release({ visitorLeft = false } = {}): void {
    this.admitted();
    if (this.#over) return;
    this.#over = true;
    const { state, shared } = this.deps;
    state.messages.holds -= MESSAGE;
    if (!visitorLeft) this.#visitor?.undo();
    if (this.#granted) shared?.changed(state, visitorLeft ? undefined : this.#granted);
  }

  /** A meter that notes how the message ends. A failed message is free and doesn't count toward the day. */
  meter(inner: CallMeter): CallMeter {
    return {
      begin: (intent) => inner.begin(intent),
      finish: (record, written, opened) => {
        const isAnswered = record.status === 'success';
        if (isAnswered) this.#keep(record);
        else this.release({ visitorLeft: record.clientAborted });
        inner.finish(
          record,
          (error) => {
            // A message whose event couldn't be stored will not be counted.
            if (error && isAnswered) this.deps.state.messages.charge(-MESSAGE, record.createdAt);
            written(error);
          },
          opened,
        );
      },
    };
  }

  #keep({ cost, createdAt }: UsageRecord): void {
    if (this.#over) return;
    this.#over = true;
    const { state, onAnswered } = this.deps;
    state.messages.holds -= MESSAGE;
    state.messages.charge(MESSAGE, createdAt);
    onAnswered(cost);
  }
}
