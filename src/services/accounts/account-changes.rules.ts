import type { Account } from '../../entities/accounts/account.js';

/** Ends all sessions of an account except `surviving`. */
export function endSessions(account: Account, surviving: string | null = null): void {
  account.tokenVersion += 1;
  account.survivingSessionId = surviving;
}

/** Removes personal data from an account and closes it. Ledger and usage stay. */
export function erase(account: Account, now: Date): void {
  endSessions(account);
  account.email = null;
  account.emailKey = null;
  account.name = '';
  account.passwordHash = null;
  account.dataKeySealed = null;
  account.virtualKeySealed = null;
  account.lowBalanceThresholdUsd = null;
  account.lowBalanceArmed = false;
  account.status = 'disabled';
  account.deletedAt = now;
}
