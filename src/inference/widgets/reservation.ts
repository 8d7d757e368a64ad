import type { Meter } from '../../metering/usage-record.js';
import type { Visitor, Visitors } from './visitors.js';
import { MESSAGE, type WidgetState } from './widget-states.js';

type CallMeter = Pick<Meter, 'begin' | 'finish'>;

/** The place of one message within the limits of its widget. It is kept once the message was answered. */
export class Reservation {
  readonly #taken: { undo(): void };
  #admitted = false;
  #over = false;

  constructor(
    private readonly state: WidgetState,
    visitors: Visitors,
    visitor: Visitor,
    private readonly onAnswered: () => void,
  ) {
    state.messages.holds += MESSAGE;
    state.waiting++;
    this.#taken = visitors.take(visitor);
  }

  /** The call has its place in the window of a minute. */
  admitted(): void {
    if (this.#admitted) return;
    this.#admitted = true;
    this.state.waiting--;
  }

  /** Nothing was answered: the place is free again. */
  release(): void {
    this.admitted();
    if (this.#over) return;
    this.#over = true;
    this.state.messages.holds -= MESSAGE;
    this.#taken.undo();
  }

  /** A meter that notes how the message ends. What failed counts for nothing, as it costs nothing either. */
  meter(inner: CallMeter): CallMeter {
    return {
      begin: (intent) => inner.begin(intent),
      finish: (record, written, opened) => {
        const isAnswered = record.status === 'success';
        if (isAnswered) this.#keep();
        else this.release();
        inner.finish(
          record,
          (error) => {
            // What could not be kept will not be counted.
            if (error && isAnswered) this.state.messages.charge(-MESSAGE);
            written(error);
          },
          opened,
        );
      },
    };
  }

  #keep(): void {
    if (this.#over) return;
    this.#over = true;
    this.state.messages.holds -= MESSAGE;
    this.state.messages.charge(MESSAGE);
    this.onAnswered();
  }
}
