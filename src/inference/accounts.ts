import type { Money } from '../lib/money.js';
import type { FlushResult } from '../metering/usage-record.js';
import { LastingStates } from './lasting-states.js';
import { AccountState } from './limits/account-state.js';

/** What is read of an account with whoever pays for its calls. */
export interface AccountRow {
  readonly accountId: string;
  readonly balance: Money;
  readonly ledgerSeq: bigint;
  readonly requestsPerMinute: number;
}

/** The money of accounts in this process, shared by all who call at their expense. */
export class Accounts {
  readonly #states = new LastingStates<AccountState>();

  get(id: string): AccountState | undefined {
    return this.#states.get(id);
  }

  /** An account with what was read of it at `readAt`. */
  observe(row: AccountRow, readAt: number): AccountState {
    const { accountId, balance, ledgerSeq, requestsPerMinute } = row;
    const make = () => new AccountState(accountId, balance, ledgerSeq, requestsPerMinute);
    const account = this.#states.of(accountId, make);
    account.observe(balance, ledgerSeq, readAt);
    account.window.resize(requestsPerMinute);
    return account;
  }

  /** The account of a charge, which may be recorded before this process has read anything of it. */
  of(id: string): AccountState {
    // Until then it has what every account had before its first ledger entry: whatever is read is newer.
    return this.#states.of(id, () => new AccountState(id, 0n, 0n, 1));
  }

  /** Takes over what a commit changed. */
  flushed({ own, accounts }: FlushResult): void {
    for (const { accountId, cost } of own) {
      const account = this.#states.get(accountId);
      if (account) account.pending -= cost;
    }
    for (const { id, balance, seq } of accounts) this.#states.get(id)?.committed(balance, seq);
  }

  /** Forgets accounts that hold no money and are unused, as they were at the last sweep. */
  sweep(isUsed: (id: string) => boolean): void {
    this.#states.sweep(isUsed);
  }
}
