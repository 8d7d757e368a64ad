import type { Clock } from '../../../lib/clock.js';
import { VisitorCounts } from '../../widgets/visitor-counts.js';
import type { CountedEdge } from './counted-edge.js';
import type { CountedStates } from './counted-states.js';
import type { MessagesChangedWords, MessageWords, VerdictWords } from './words.js';

/** Messages of a widget over all edges. */
interface Widget {
  /** The UTC day of `committed`. */
  day: string;
  /** As many as the database has, as far as an edge has said. */
  committed: number;
  /** In flight, or not yet committed. */
  open: number;
}

/** Counts messages of widgets and of their visitors for all edges of this machine. */
export class MessageCounter {
  readonly #widgets = new Map<string, Widget>();
  readonly #visitors: VisitorCounts;

  constructor(
    private readonly clock: Clock,
    private readonly states: CountedStates,
  ) {
    this.#visitors = new VisitorCounts(clock);
  }

  /** Takes a place of the day and of the visitor, or says why there is none. */
  take(edge: CountedEdge, words: MessageWords): VerdictWords {
    const { question, widgetId, accountId, perDay, perMinute, visitor } = words;
    const now = this.clock.now();
    const verdict = (kind: VerdictWords['verdict'], waitMs = 0): VerdictWords => ({
      kind: 'verdict',
      ...{ question, verdict: kind, waitMs, at: now },
    });
    const window = this.states.window(accountId, widgetId);
    window.resize(perMinute);
    const rate = window.peek(now);
    if (!rate.allowed) return verdict('minute', rate.resetMs);
    const refusal = visitor && this.#visitors.refusal(visitor.names, visitor.limits);
    if (refusal === 'day') return verdict('visitor');
    if (refusal) return verdict('visitor_minute', refusal.waitMs);
    if (!words.isRead && this.#widgets.get(widgetId)?.day !== words.day) return verdict('read');
    const widget = this.#learn(words);
    if (widget.committed + widget.open + 1 > perDay) return verdict('day');
    this.#open(edge, widgetId, widget, 1);
    if (visitor) this.#visitors.take(visitor.names, now);
    return verdict('ok');
  }

  change(edge: CountedEdge, words: MessagesChangedWords): void {
    this.#open(edge, words.widgetId, this.#learn(words), words.more);
    if (words.returned) this.#visitors.giveBack(words.returned.names, words.returned.at);
  }

  /** What a dead edge had open is committed, or never will be. */
  release(edge: CountedEdge): void {
    for (const [widgetId, open] of edge.messages) {
      const widget = this.#widgets.get(widgetId);
      if (widget) widget.open -= open;
    }
  }

  /** Forgets widgets of earlier days. */
  sweep(today: string): void {
    for (const [id, { day, open }] of this.#widgets) if (day < today && open === 0) this.#widgets.delete(id);
  }

  #learn({ widgetId, day, committed }: MessagesChangedWords | MessageWords): Widget {
    const known = this.#widgets.get(widgetId);
    if (!known) {
      const widget = { day, committed, open: 0 };
      this.#widgets.set(widgetId, widget);
      return widget;
    }
    if (day > known.day) {
      known.day = day;
      known.committed = committed;
    } else if (day === known.day) known.committed = Math.max(known.committed, committed);
    return known;
  }

  #open(edge: CountedEdge, widgetId: string, widget: Widget, more: number): void {
    widget.open += more;
    const open = (edge.messages.get(widgetId) ?? 0) + more;
    if (open === 0) edge.messages.delete(widgetId);
    else edge.messages.set(widgetId, open);
  }
}
