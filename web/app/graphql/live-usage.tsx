import { UsageRecordedDocument } from '../../generated/graphql';
import { createLiveEvents } from './live-events';

const usage = createLiveEvents(UsageRecordedDocument, ({ usageRecorded }) => usageRecorded);

/** Wraps every page; listens to the account's calls as they are charged. */
export const LiveUsage = usage.Provider;

/** Calls back with each call of the account once it is charged. */
export const useUsageRecorded = usage.useEvent;

/** Calls `refresh` soon after calls were charged, at most once in `everyMs`, however many there are. */
export const useRefreshOnUsage = usage.useRefresh;
