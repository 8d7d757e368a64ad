import { MINUTE_MS, utcMonth } from '../../lib/clock.js';
import { DOLLAR } from '../../lib/money.js';
import { SlidingWindow } from '../../lib/sliding-window.js';
import { PeriodSpend } from '../limits/period-spend.js';
import type { MessageCount } from '../limits/shared-messages.js';

/** One message, in the units of `PeriodSpend`. */
export const MESSAGE = DOLLAR;

/** This process's counts of a widget. They outlive the widget's cached rows. */
export class WidgetState implements MessageCount {
  /** Messages by UTC day, each as `MESSAGE`. */
  readonly messages = new PeriodSpend();
  /** Money by UTC month. */
  readonly spend = new PeriodSpend(utcMonth);
  /** Messages of the last 60 seconds. */
  readonly window: SlidingWindow;
  /** Calls that wait for admission and will then take a place in the window. */
  waiting = 0;

  constructor(
    readonly widgetId: string,
    readonly accountId: string,
    perMinute: number,
  ) {
    this.window = new SlidingWindow(perMinute, MINUTE_MS);
  }

  open(day: string): number {
    return Number((this.messages.holds + this.messages.pendingOf(day)) / MESSAGE);
  }

  given(): number {
    return Number(this.messages.claims / MESSAGE);
  }

  committed(day: string): number {
    return Number(this.messages.highest(day) / MESSAGE);
  }

  /** Whether nothing would be lost by forgetting this state, except the window of the last minute. */
  get idle(): boolean {
    return this.messages.idle && this.spend.idle && this.waiting === 0;
  }
}
