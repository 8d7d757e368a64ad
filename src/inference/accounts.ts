import type { Money } from '../lib/money.js';
import type { FlushResult } from '../metering/usage-record.js';
import { LastingStates } from './lasting-states.js';
import { AccountState } from './limits/account-state.js';

/** An account as read along with a key or widget. */
export interface AccountRow {
  readonly accountId: string;
  readonly balance: Money;
  readonly ledgerSeq: bigint;
  readonly requestsPerMinute: number;
}

/** The accounts that this process knows, each shared by all keys and widgets that it pays for. */
export class Accounts {
  readonly #states = new LastingStates<AccountState>();

  get(id: string): AccountState | undefined {
    return this.#states.get(id);
  }

  /** Applies a row that was read at `readAt`. Returns its account. */
  observe(row: AccountRow, readAt: number): AccountState {
    const { accountId, balance, ledgerSeq, requestsPerMinute } = row;
    const make = () => new AccountState(accountId, balance, ledgerSeq, requestsPerMinute);
    const account = this.#states.of(accountId, make);
    account.observe(balance, ledgerSeq, readAt);
    account.window.resize(requestsPerMinute);
    return account;
  }

  /** The account of a charge, even if this process hasn't read the account yet. */
  of(id: string): AccountState {
    // The state of every account before its first ledger entry, so any reading is newer.
    return this.#states.of(id, () => new AccountState(id, 0n, 0n, 1));
  }

  /** Applies the result of a flush. */
  flushed({ own, accounts }: FlushResult): void {
    for (const { accountId, cost } of own) {
      const account = this.#states.get(accountId);
      if (account) account.pending -= cost;
    }
    for (const { id, balance, seq } of accounts) this.#states.get(id)?.committed(balance, seq);
  }

  /** Forgets accounts that were idle and unused at this sweep and the one before. */
  sweep(isUsed: (id: string) => boolean): void {
    this.#states.sweep(isUsed);
  }
}
