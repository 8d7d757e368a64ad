import type { Pool } from 'pg';
import { utcDay, utcMonth } from '../../lib/clock.js';
import type { FlushResult, UsageRecord } from '../../metering/usage-record.js';
import { accountVirtualKeyField } from '../../services/keys/keys.rules.js';
import type { Accounts } from '../accounts.js';
import { LastingStates } from '../lasting-states.js';
import { type Payer, UNREAD } from '../payer.js';
import { type CachedPayer, RowCache, type RowCacheDeps } from '../row-cache.js';
import { authorizationOf, type VirtualKeyDeps } from '../virtual-key.js';
import { readWidgets, type WidgetRow } from './widget.store.js';
import { MESSAGE, WidgetState } from './widget-state.js';

/** An immutable version of a widget's row, as the payer of its visitors' messages. */
export interface WidgetEntry extends CachedPayer {
  readonly row: WidgetRow;
  readonly state: WidgetState;
}

export const MAX_CACHED_WIDGETS = 20_000;
const BATCH = 200;

interface Deps extends RowCacheDeps, VirtualKeyDeps {
  accounts: Accounts;
}

/** Widgets by their public keys. A widget whose account isn't active has no row. */
export class WidgetCache extends RowCache<WidgetRow, WidgetEntry> {
  readonly #states = new LastingStates<WidgetState>();

  constructor(protected override readonly deps: Deps) {
    super(deps, { what: 'widgets', max: MAX_CACHED_WIDGETS, batch: BATCH, maxKept: 0 });
  }

  /** Applies the result of a flush. @returns The widgets that it concerned. */
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

  /** Counts the message of a call that a dead process recorded. @returns The widget and the call's payer. */
  adoptCharge(record: UsageRecord, widgetId: string): { state: WidgetState; payer: Payer } {
    const { accountId, status, createdAt } = record;
    const state = this.#states.of(widgetId, () => new WidgetState(widgetId, accountId, 1));
    if (status === 'success') state.messages.charge(MESSAGE, createdAt);
    const payer: Payer = {
      ...UNREAD,
      credential: { kind: 'widget', id: widgetId },
      account: this.deps.accounts.of(accountId),
      day: state.spend,
      rate: { name: widgetId, window: state.window },
    };
    return { state, payer };
  }

  /** Forgets the counts of unused widgets. */
  sweep(): void {
    this.#states.sweep((id) => this.keeps(id));
  }

  protected override read(pool: Pool, publicKeys: string[], day: string): Promise<Map<string, WidgetRow>> {
    return readWidgets(pool, publicKeys, day);
  }

  protected override enter(row: WidgetRow, readAt: number, former: WidgetEntry | undefined): WidgetEntry {
    const { id, accountId, perMinute, virtualKeySealed: sealed } = row;
    const state = this.#states.of(id, () => new WidgetState(id, accountId, perMinute));
    state.window.resize(perMinute);
    state.messages.observe(utcDay(readAt), row.messagesToday, readAt);
    state.spend.observe(utcMonth(readAt), row.spentThisMonth, readAt);
    return {
      credential: { kind: 'widget', id },
      hash: row.publicKey,
      ...{ row, state, readAt, virtualKeySealed: sealed },
      account: this.deps.accounts.observe(row, readAt),
      allowedModels: new Set(row.allowedModels),
      authorization: authorizationOf(
        this.deps,
        { sealed, field: accountVirtualKeyField(accountId), owner: { accountId } },
        former,
      ),
      dailyLimit: null,
      day: state.spend,
      rate: { name: id, window: state.window },
    };
  }
}
