import { utcDay, utcMonth } from '../../lib/clock.js';
import type { Envelope } from '../../lib/crypto.js';
import type { Logger } from '../../lib/logger.js';
import { DOLLAR } from '../../lib/money.js';
import { SlidingWindow } from '../../lib/sliding-window.js';
import type { FlushResult, UsageRecord } from '../../metering/usage-record.js';
import { accountVirtualKeyField } from '../../services/keys/keys.rules.js';
import type { KeyCache } from '../keys/key-cache.js';
import { UNREAD } from '../keys/key-states.js';
import { DayState } from '../limits/account-state.js';
import type { MessageCount } from '../limits/shared-messages.js';
import type { Payer } from '../payer.js';
import type { WidgetRow } from './widget.store.js';

const MINUTE_MS = 60_000;
/** A line end in a virtual key would begin another header. */
const PRINTABLE = /^[\x21-\x7e]+$/;

/** One message in the units in which a `DayState` counts. */
export const MESSAGE = DOLLAR;

/** What is counted of a widget in this process. It outlives the rows that it was read with. */
export class WidgetState implements MessageCount {
  /** Messages by UTC day, each as `MESSAGE`. */
  readonly messages = new DayState();
  /** Money by UTC month. */
  readonly spend = new DayState(utcMonth);
  /** Messages of the last 60 seconds. */
  readonly window: SlidingWindow;
  /** Calls that wait for their admission, and will take a place in the window. */
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
}

/** An immutable version of a widget's row, which pays for what its visitors ask. */
export interface WidgetEntry extends Payer {
  readonly row: WidgetRow;
  readonly state: WidgetState;
  readonly readAt: number;
}

interface Deps {
  accounts: Pick<KeyCache, 'shareAccount' | 'accountOf'>;
  envelope: Envelope;
  log: Logger;
}

/** The counts of widgets in this process. */
export class WidgetStates {
  readonly #states = new Map<string, WidgetState>();

  constructor(private readonly deps: Deps) {}

  /** Takes over a row that was read at `readAt`; `former` is what was known of the widget until now. */
  enter(row: WidgetRow, readAt: number, former: WidgetEntry | undefined): WidgetEntry {
    const state = this.#stateOf(row);
    state.messages.observe(utcDay(readAt), row.messagesToday, readAt);
    state.spend.observe(utcMonth(readAt), row.spentThisMonth, readAt);
    // Opening a sealed key costs more than all the rest.
    const sameSeal = former?.authorization && former.row.virtualKeySealed === row.virtualKeySealed;
    return {
      credential: { kind: 'widget', id: row.id },
      hash: row.publicKey,
      account: this.deps.accounts.shareAccount(row, readAt),
      allowedModels: new Set(row.allowedModels),
      authorization: sameSeal ? former.authorization : this.#openVirtualKey(row),
      dailyLimit: null,
      day: state.spend,
      rate: { name: row.id, window: state.window },
      row,
      state,
      readAt,
    };
  }

  /** Takes over what a commit changed. @returns The widgets whose messages it concerned. */
  flushed(result: FlushResult): Set<WidgetState> {
    const touched = new Set<WidgetState>();
    for (const { widgetId, cost, createdAt, status } of result.own) {
      const state = widgetId === null ? undefined : this.#states.get(widgetId);
      if (!state) continue;
      const month = utcMonth(createdAt);
      state.spend.settled(cost, createdAt);
      state.spend.committed(month, state.spend.spend(month) + cost);
      if (status === 'success') state.messages.settled(MESSAGE, createdAt);
      touched.add(state);
    }
    for (const { keyId, day, spend } of result.keyDays) {
      const state = this.#states.get(keyId);
      if (!state) continue;
      state.messages.committed(day, spend);
      touched.add(state);
    }
    return touched;
  }

  /** Counts the message of a call that a dead process has recorded. @returns The widget, and who pays for the call. */
  takeOver(
    { accountId, status, createdAt }: UsageRecord,
    widgetId: string,
  ): { state: WidgetState; payer: Payer } {
    const state = this.#states.get(widgetId) ?? this.#stateOf({ id: widgetId, accountId, perMinute: 1 });
    if (status === 'success') state.messages.charge(MESSAGE, createdAt);
    const payer: Payer = {
      ...UNREAD,
      credential: { kind: 'widget', id: widgetId },
      account: this.deps.accounts.accountOf(accountId),
      day: state.spend,
      rate: { name: widgetId, window: state.window },
    };
    return { state, payer };
  }

  /** Forgets the counts of widgets that nobody uses any more. */
  sweep(used: ReadonlySet<string>, now: number): void {
    for (const [id, { messages, spend, window, waiting }] of this.#states) {
      const isIdle = messages.idle && spend.idle && waiting === 0 && window.peek(now).resetMs === 0;
      if (isIdle && !used.has(id)) this.#states.delete(id);
    }
  }

  #stateOf({ id, accountId, perMinute }: Pick<WidgetRow, 'id' | 'accountId' | 'perMinute'>): WidgetState {
    const known = this.#states.get(id);
    if (known) {
      known.window.resize(perMinute);
      return known;
    }
    const state = new WidgetState(id, accountId, perMinute);
    this.#states.set(id, state);
    return state;
  }

  #openVirtualKey({ accountId, virtualKeySealed }: WidgetRow): string | null {
    if (virtualKeySealed === null) return null;
    try {
      const key = this.deps.envelope.open(virtualKeySealed, accountVirtualKeyField(accountId)).toString();
      if (PRINTABLE.test(key)) return `Bearer ${key}`;
    } catch {
      // Told below.
    }
    this.deps.log.error(
      { accountId },
      "failed to decrypt an account's virtual key: its widgets are rejected",
    );
    return null;
  }
}
