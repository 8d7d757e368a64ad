import type { Money } from '../lib/money.js';
import type { SlidingWindow } from '../lib/sliding-window.js';
import type { GuardState } from './keys/guard-state.js';
import type { AccountState } from './limits/account-state.js';
import type { PeriodSpend } from './limits/period-spend.js';

/** What identifies a caller. Usage is recorded by credential. */
export interface Credential {
  readonly kind: 'api_key' | 'widget' | 'playground';
  readonly id: string;
}

/** The credential's id if it is of the wanted kind: usage has a column for each kind. */
export const credentialIdOf = ({ kind, id }: Credential, wanted: Credential['kind']): string | null =>
  kind === wanted ? id : null;

/**
 * Who pays for a call, and on which terms. Admission, relay and metering know nothing else about a caller. `account` and `day`
 * are shared by all versions of a row; everything else stays as it was read.
 */
export interface Payer {
  readonly credential: Credential;
  /** The name of its row in the cache: the SHA-256 of an API key in hex, or the public key of a widget. */
  readonly hash: string;
  readonly account: AccountState;
  readonly allowedModels: ReadonlySet<string>;
  /** `Bearer <virtual key>` for the upstream; null: calls are refused with `upstream_unconfigured`. */
  readonly authorization: string | null;
  /** The credential's daily cap, or null. */
  readonly dailyLimit: Money | null;
  /** The spend that counts against `dailyLimit`. */
  readonly day: PeriodSpend;
  /** Acts once the credential has spent a part of its monthly limit. */
  readonly guard?: GuardState | null;
  /**
   * Checks a budget beside the account's, right before a call takes its hold and its place in the minute.
   * @throws AppError if the budget is used up, or held by other calls
   */
  readonly requireBudget?: (model: string) => void;
  /** Counts its calls per minute instead of the account's window. The name is unique within the account. */
  readonly rate?: { readonly name: string; readonly window: SlidingWindow };
}

/** The fields of a payer whose row isn't read yet. Such a payer can be charged, but gets no call admitted. */
export const UNREAD = { hash: '', allowedModels: new Set<string>(), authorization: null, dailyLimit: null };

/** The window in which a payer's calls per minute are counted. */
export const windowOf = ({
  account,
  rate,
}: {
  account: AccountState;
  rate?: { readonly window: SlidingWindow } | undefined;
}): SlidingWindow => rate?.window ?? account.window;
