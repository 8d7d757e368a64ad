import type { Money } from '../lib/money.js';
import type { SlidingWindow } from '../lib/sliding-window.js';
import type { GuardState } from './keys/guard-state.js';
import type { AccountState } from './limits/account-state.js';
import type { PeriodSpend } from './limits/period-spend.js';

/** What a caller was let in by. Usage is counted by it. */
export interface Credential {
  readonly kind: 'api_key' | 'widget' | 'playground';
  readonly id: string;
}

/** The credential's id where it is of a kind: usage has a column for each. */
export const credentialIdOf = ({ kind, id }: Credential, wanted: Credential['kind']): string | null =>
  kind === wanted ? id : null;

/**
 * Who pays for a call, and on which terms. Admission, relay and metering know nothing else of a caller. The states live on
 * from one version of a row to the next; everything else stays as it was read.
 */
export interface Payer {
  readonly credential: Credential;
  /** What its row is found by: the SHA-256 of an API key in hex, or the public key of a widget. */
  readonly hash: string;
  readonly account: AccountState;
  readonly allowedModels: ReadonlySet<string>;
  /** `Bearer <virtual key>` for the upstream; null: `upstream_unconfigured`. */
  readonly authorization: string | null;
  /** The daily cap of the credential, and what it has spent today. */
  readonly dailyLimit: Money | null;
  readonly day: PeriodSpend;
  /** What is done about the credential once it has spent a part of its monthly limit. Absent or null: nothing. */
  readonly guard?: GuardState | null;
  /**
   * Looks at a budget of its own, right before a call takes its hold and its place in the minute. Absent: there is none.
   * @throws AppError where it is used up, or held by other calls
   */
  readonly requireBudget?: (model: string) => void;
  /** Counts its calls per minute in place of the account's window: its name is unique within the account. */
  readonly rate?: { readonly name: string; readonly window: SlidingWindow };
}

/** What is known of a payer before its row is read; nothing is admitted by it. */
export const UNREAD = { hash: '', allowedModels: new Set<string>(), authorization: null, dailyLimit: null };

/** What the calls of a payer are counted in, minute by minute. */
export const windowOf = ({
  account,
  rate,
}: {
  account: AccountState;
  rate?: { readonly window: SlidingWindow } | undefined;
}): SlidingWindow => rate?.window ?? account.window;
