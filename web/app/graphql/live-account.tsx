import { AccountChangedDocument } from '../../generated/graphql';
import { createLiveEvents } from './live-events';

const account = createLiveEvents(AccountChangedDocument, ({ accountChanged }) => accountChanged.changed);

/** Wraps every page; listens to changes of balance, plan and keys, wherever they were made, and to refused calls. */
export const LiveAccount = account.Provider;

/** Calls back with each change of the account. */
export const useAccountChanged = account.useEvent;

/** Calls `refresh` soon after calls were refused, at most once in `everyMs`, however many there are. */
export const useRefreshOnRefused = (refresh: () => void, everyMs: number): void =>
  account.useRefresh(refresh, everyMs, (changed) => changed.includes('REFUSED_CALLS'));
