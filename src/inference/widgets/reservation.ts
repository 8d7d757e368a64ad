import type { Money } from '../../lib/money.js';
import type { Meter, UsageRecord } from '../../metering/usage-record.js';
import type { MessageQuestion, SharedMessages } from '../limits/shared-messages.js';
import { MESSAGE, type WidgetState } from './widget-state.js';

type CallMeter = Pick<Meter, 'begin' | 'finish'>;

interface Deps {
  state: WidgetState;
  /** Takes the place of the visitor; undefined where visitors aren't limited. */
  takeVisitor(): { undo(): void } | undefined;
  /** The same over all edges. */
  shared: SharedMessages | undefined;
  onAnswered(cost: Money): void;
}

/** The place of one message within the limits of its widget. It is kept once the message was answered. */
export class Reservation {
  readonly #visitor: { undo(): void } | undefined;
  #admitted = false;
  #over = false;
  /** The question by which other edges know of it. */
  #granted: MessageQuestion | undefined;

  constructor(private readonly deps: Deps) {
    const { state } = deps;
    state.messages.holds += MESSAGE;
    state.waiting++;
    this.#visitor = deps.takeVisitor();
  }

  /** The other edges count it, too. */
  granted(question: MessageQuestion): void {
    this.#granted = question;
  }

  /** The call has its place in the window of a minute. */
  admitted(): void {
    if (this.#admitted) return;
    this.#admitted = true;
    this.deps.state.waiting--;
  }

  /**
   * Nothing was answered: the place is free again. A visitor who left without waiting keeps the message counted: else one could
   * use up the minutes of all others for nothing.
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

  /** A meter that notes how the message ends. What failed doesn't count toward the day, as it costs nothing either. */
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
            // What could not be kept will not be counted.
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
