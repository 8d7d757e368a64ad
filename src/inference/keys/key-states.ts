import { utcDay } from '../../lib/clock.js';
import type { Envelope } from '../../lib/crypto.js';
import type { Logger } from '../../lib/logger.js';
import type { FlushResult } from '../../metering/usage-record.js';
import { virtualKeyField } from '../../services/keys/keys.rules.js';
import { AccountState, DayState } from '../limits/account-state.js';
import type { Payer } from '../payer.js';
import type { KeyRow } from './key.store.js';
import { KeyGuard } from './key-guard.js';

/** A line end in a virtual key would begin another header. */
const PRINTABLE = /^[\x21-\x7e]+$/;

/** What is read of an account with whatever pays for its calls. */
export type AccountRow = Pick<KeyRow, 'accountId' | 'balance' | 'ledgerSeq' | 'requestsPerMinute'>;

/** An immutable version of an API key's row, which pays for what is called with the key. */
export interface KeyEntry extends Payer {
  readonly active: boolean;
  readonly virtualKeySealed: string | null;
  readonly guard: KeyGuard | null;
  readonly readAt: number;
}

/** What is known of a payer before its row is read; nothing is admitted by it. */
export const UNREAD = { hash: '', allowedModels: new Set<string>(), authorization: null, dailyLimit: null };

/** The money of accounts and keys in this process, which outlives the rows that it was read with. */
export class KeyStates {
  readonly #accounts = new Map<string, AccountState>();
  readonly #days = new Map<string, DayState>();
  /** Those that the last sweep found without an entry and without money. */
  #unusedAccounts = new Set<string>();
  #unusedDays = new Set<string>();

  constructor(private readonly deps: { envelope: Envelope; log: Logger }) {}

  /** Number of accounts. */
  get size(): number {
    return this.#accounts.size;
  }

  account(id: string): AccountState | undefined {
    return this.#accounts.get(id);
  }

  keyDay(keyId: string): DayState | undefined {
    return this.#days.get(keyId);
  }

  /** Takes over a row that was read at `readAt`; `former` is what was known of the key until now. */
  enter(row: KeyRow, readAt: number, former: KeyEntry | undefined): KeyEntry {
    const day = this.#dayOf(row.keyId);
    day.observe(utcDay(readAt), row.spendToday, readAt);
    // Opening a sealed key costs more than all the rest, and a key in use is read every few seconds.
    const sameSeal = former?.authorization && former.virtualKeySealed === row.virtualKeySealed;
    return {
      hash: row.hash,
      credential: former?.credential ?? { kind: 'api_key', id: row.keyId },
      active: row.active,
      dailyLimit: row.dailyLimit,
      virtualKeySealed: row.virtualKeySealed,
      authorization: sameSeal ? former.authorization : this.#openVirtualKey(row),
      allowedModels: new Set(row.allowedModels),
      account: this.#accountOf(row, readAt),
      day,
      guard: row.guard && new KeyGuard(row.guard, utcDay(readAt), day, former?.guard?.window),
      readAt,
    };
  }

  /** Takes over what a commit changed. */
  flushed(result: FlushResult): void {
    for (const event of result.own) {
      const account = this.#accounts.get(event.accountId);
      if (account) account.pending -= event.cost;
      const day = event.keyId === null ? undefined : this.#days.get(event.keyId);
      day?.settled(event.cost, event.createdAt);
    }
    for (const { id, balance, seq } of result.accounts) this.#accounts.get(id)?.committed(balance, seq);
    for (const { keyId, day, spend } of result.keyDays) this.#days.get(keyId)?.committed(day, spend);
  }

  /**
   * Forgets states that have held no money and were referenced by no entry since the last sweep. A call that has just
   * got its entry may hold or charge a moment after the entry is gone, and must not use a state that no one else sees.
   */
  sweep(slots: Iterable<{ entry: KeyEntry }>, usedElsewhere: Iterable<string> = []): void {
    const accounts = new Set(usedElsewhere);
    const keys = new Set<string>();
    for (const { entry } of slots) {
      accounts.add(entry.account.id);
      keys.add(entry.credential.id);
    }
    this.#unusedAccounts = forget(this.#accounts, accounts, this.#unusedAccounts);
    this.#unusedDays = forget(this.#days, keys, this.#unusedDays);
  }

  /** What is known of an account, with what was read of it at `readAt`. */
  shareAccount(row: AccountRow, readAt: number): AccountState {
    return this.#accountOf(row, readAt);
  }

  /** The account of a charge that was recorded before this process read anything of it. */
  accountOf(id: string): AccountState {
    const known = this.#accounts.get(id);
    if (known) return known;
    // What every account had before its first ledger entry: whatever is read is newer.
    const account = new AccountState(id, 0n, 0n, 1);
    this.#accounts.set(id, account);
    return account;
  }

  /** Who pays for a charge of a key of which nothing was read: its row will share these states. */
  unreadPayer(accountId: string, keyId: string): Payer {
    const day = this.#dayOf(keyId);
    // Its row isn't read yet, so it may have a cap. With Redis, only days of capped keys are counted.
    day.isCapped = true;
    const credential = { kind: 'api_key', id: keyId } as const;
    return { ...UNREAD, credential, account: this.accountOf(accountId), day };
  }

  #accountOf(row: AccountRow, readAt: number): AccountState {
    this.#unusedAccounts.delete(row.accountId);
    const known = this.#accounts.get(row.accountId);
    if (known) {
      known.observe(row.balance, row.ledgerSeq, readAt);
      known.window.resize(row.requestsPerMinute);
      return known;
    }
    const account = new AccountState(row.accountId, row.balance, row.ledgerSeq, row.requestsPerMinute);
    account.readAt = readAt;
    this.#accounts.set(row.accountId, account);
    return account;
  }

  #dayOf(keyId: string): DayState {
    this.#unusedDays.delete(keyId);
    const known = this.#days.get(keyId);
    if (known) return known;
    const day = new DayState();
    this.#days.set(keyId, day);
    return day;
  }

  #openVirtualKey(row: KeyRow): string | null {
    if (row.virtualKeySealed === null) return null;
    try {
      const key = this.deps.envelope.open(row.virtualKeySealed, virtualKeyField(row.keyId)).toString();
      if (PRINTABLE.test(key)) return `Bearer ${key}`;
      this.deps.log.error(
        { keyId: row.keyId },
        "a virtual key contains characters that aren't allowed in a header",
      );
      return null;
    } catch {
      this.deps.log.error(
        { keyId: row.keyId },
        'failed to decrypt a virtual key: was ENCRYPTION_KEY changed without setting ENCRYPTION_KEY_PREVIOUS?',
      );
      return null;
    }
  }
}

/** Deletes idle states that are unused as they were at the last sweep. @returns Those that are so for the first time. */
function forget(
  states: Map<string, { readonly idle: boolean }>,
  used: ReadonlySet<string>,
  unusedBefore: ReadonlySet<string>,
): Set<string> {
  const unused = new Set<string>();
  for (const [id, state] of states) {
    if (used.has(id) || !state.idle) continue;
    if (unusedBefore.has(id)) states.delete(id);
    else unused.add(id);
  }
  return unused;
}
