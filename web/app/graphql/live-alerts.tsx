import { AlertFiredDocument } from '../../generated/graphql';
import { createLiveEvents } from './live-events';

const alerts = createLiveEvents(AlertFiredDocument, ({ alertFired }) => alertFired);

/** Around every page: hears of each alert of the account as it fires. */
export const LiveAlerts = alerts.Provider;

/** Calls back with each alert of the account as it fires. */
export const useAlertFired = alerts.useEvent;

/** Calls `refresh` soon after alerts fired, at most once in `everyMs`, however many they are. */
export const useRefreshOnAlerts = alerts.useRefresh;
