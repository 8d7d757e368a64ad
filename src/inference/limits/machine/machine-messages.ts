import { type Clock, utcDay } from '../../../lib/clock.js';
import type { MessageCount, MessageQuestion, MessageVerdict, SharedMessages } from '../shared-messages.js';
import type { CounterLink } from './counter-link.js';
import type { VerdictWords } from './words.js';

/** Messages of widgets, counted by the process that counts for all edges of this machine. */
export class MachineMessages implements SharedMessages {
  /** Questions without an answer, by widget. */
  readonly #asking = new Map<string, number>();
  /** Open messages that the counting process knows of, by widget. */
  readonly #told = new Map<string, number>();
  /** When the place of a visitor was taken. */
  readonly #takenAt = new WeakMap<MessageQuestion, number>();

  constructor(
    private readonly link: CounterLink,
    private readonly clock: Clock,
  ) {}

  async take(count: MessageCount, question: MessageQuestion): Promise<MessageVerdict> {
    add(this.#asking, count.widgetId, 1);
    // On a new day, what the day before has not committed yet is no longer open.
    this.changed(count);
    try {
      let verdict = await this.#ask(count, question, false);
      if (verdict.verdict === 'read') {
        await question.readAgain();
        verdict = await this.#ask(count, question, true);
      }
      if (verdict.verdict === 'ok') {
        add(this.#told, count.widgetId, 1);
        this.#takenAt.set(question, verdict.at);
      } else question.onRefused();
      return { kind: verdict.verdict as MessageVerdict['kind'], waitMs: verdict.waitMs };
    } finally {
      add(this.#asking, count.widgetId, -1);
    }
  }

  changed(count: MessageCount, returned?: MessageQuestion): void {
    const { widgetId } = count;
    const dayOf = this.#dayOf(count);
    const open = Math.max(0, count.open(dayOf.day) - (this.#asking.get(widgetId) ?? 0));
    const more = open - (this.#told.get(widgetId) ?? 0);
    const at = returned && this.#takenAt.get(returned);
    const names = returned?.visitor?.names;
    if (more === 0 && !names) return;
    add(this.#told, widgetId, more);
    this.link.tell({
      kind: 'messages',
      ...dayOf,
      more,
      returned: names && at !== undefined ? { names, at } : null,
    });
  }

  #ask(count: MessageCount, question: MessageQuestion, isRead: boolean): Promise<VerdictWords> {
    const { perDay, perMinute, visitor = null } = question;
    const { accountId } = count;
    const words = { ...this.#dayOf(count), accountId, perDay, perMinute, visitor, isRead };
    return this.link.askForMessage(words, ({ verdict, at }) => {
      if (verdict !== 'ok') return;
      const returned = visitor && { names: visitor.names, at };
      this.link.tell({ kind: 'messages', ...this.#dayOf(count), more: -1, returned });
    });
  }

  #dayOf(count: MessageCount): { widgetId: string; day: string; committed: number } {
    const day = utcDay(this.clock.now());
    return { widgetId: count.widgetId, day, committed: count.committed(day) };
  }
}

function add(counts: Map<string, number>, id: string, more: number): void {
  const sum = (counts.get(id) ?? 0) + more;
  if (sum === 0) counts.delete(id);
  else counts.set(id, sum);
}
