import type { Pool } from 'pg';
import { utcDay } from '../../lib/clock.js';
import type { FlushResult } from '../../metering/usage-record.js';
import { virtualKeyField } from '../../services/keys/keys.rules.js';
import type { Accounts } from '../accounts.js';
import { LastingStates } from '../lasting-states.js';
import { PeriodSpend } from '../limits/period-spend.js';
import { type Payer, UNREAD } from '../payer.js';
import { type CachedPayer, RowCache, type RowCacheDeps } from '../row-cache.js';
import { authorizationOf, type VirtualKeyDeps } from '../virtual-key.js';
import { GuardState } from './guard-state.js';
import { type KeyRow, readKeys } from './key.store.js';

/** An immutable version of an API key's row, as the payer of the key's calls. */
export interface KeyEntry extends CachedPayer {
  readonly active: boolean;
  readonly guard: GuardState | null;
}

export const MAX_CACHED_KEYS = 100_000;
const BATCH = 500;
/** Read in four statements. */
const MAX_KEPT = 2_000;

interface Deps extends RowCacheDeps, VirtualKeyDeps {
  accounts: Accounts;
}

/** API keys by the SHA-256 of their secrets. */
export class KeyCache extends RowCache<KeyRow, KeyEntry> {
  /** The spend of each key today. */
  readonly #days = new LastingStates<PeriodSpend>();
  #onCapAdded: (payer: Payer) => void = () => undefined;

  constructor(protected override readonly deps: Deps) {
    super(deps, { what: 'API keys', max: MAX_CACHED_KEYS, batch: BATCH, maxKept: MAX_KEPT });
  }

  /** Called with a key that got its first daily cap, as soon as the cap is read. */
  onCapAdded(listener: (payer: Payer) => void): void {
    this.#onCapAdded = listener;
  }

  /** Guards of these accounts' keys may have acted; null: of any account. */
  guardsActed(accountIds: readonly string[] | null): void {
    this.outdateSome(accountIds, ({ guard }) => guard !== null);
  }

  /** Applies the result of a flush to keys and accounts. */
  flushed(result: FlushResult): void {
    this.deps.accounts.flushed(result);
    for (const { keyId, cost, createdAt } of result.own) {
      if (keyId !== null) this.#days.get(keyId)?.settled(cost, createdAt);
    }
    for (const { keyId, day, spend } of result.keyDays) this.#days.get(keyId)?.committed(day, spend);
  }

  /** The payer of a charge that a dead process recorded, even if the key's row hasn't been read. */
  payerOf(accountId: string, keyId: string): Payer {
    const known = this.entryOf(keyId);
    if (known) return known;
    const day = this.#dayOf(keyId);
    // The unread row may have a cap, and Redis only counts the spend of capped keys.
    day.tracksCap = true;
    const credential = { kind: 'api_key', id: keyId } as const;
    return { ...UNREAD, credential, account: this.deps.accounts.of(accountId), day };
  }

  /** Forgets the spend of unused keys. */
  sweep(): void {
    this.#days.sweep((id) => this.keeps(id));
  }

  protected override read(pool: Pool, hashes: string[], day: string): Promise<Map<string, KeyRow>> {
    return readKeys(pool, hashes, day);
  }

  protected override enter(row: KeyRow, readAt: number, former: KeyEntry | undefined): KeyEntry {
    const { id, hash, active, dailyLimit, virtualKeySealed: sealed } = row;
    const today = utcDay(readAt);
    const day = this.#dayOf(id);
    day.observe(today, row.spendToday, readAt);
    const entry: KeyEntry = {
      credential: former?.credential ?? { kind: 'api_key', id },
      ...{ hash, active, dailyLimit, virtualKeySealed: sealed, day, readAt },
      authorization: authorizationOf(
        this.deps,
        { sealed, field: virtualKeyField(id), owner: { keyId: id } },
        former,
      ),
      allowedModels: new Set(row.allowedModels),
      account: this.deps.accounts.observe(row, readAt),
      guard: row.guard && new GuardState(row.guard, today, day, former?.guard?.window),
    };
    if (dailyLimit !== null && former?.dailyLimit === null) this.#onCapAdded(entry);
    return entry;
  }

  #dayOf(keyId: string): PeriodSpend {
    return this.#days.of(keyId, () => new PeriodSpend());
  }
}
