import { AccountChangedDocument } from '../../generated/graphql';
import { createLiveEvents } from './live-events';

const account = createLiveEvents(AccountChangedDocument, ({ accountChanged }) => accountChanged.changed);

/** Around every page: hears of each change of balance, plan and keys, wherever it was made, and of refused calls. */
export const LiveAccount = account.Provider;

/** Calls back with what has changed of the account. */
export const useAccountChanged = account.useEvent;

/** Calls `refresh` soon after calls were refused, at most once in `everyMs`, however many they are. */
export const useRefreshOnRefused = (refresh: () => void, everyMs: number): void =>
  account.useRefresh(refresh, everyMs, (changed) => changed.includes('REFUSED_CALLS'));
