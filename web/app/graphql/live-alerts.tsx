import { AlertFiredDocument } from '../../generated/graphql';
import { createLiveEvents } from './live-events';

const alerts = createLiveEvents(AlertFiredDocument, ({ alertFired }) => alertFired);

/** Wraps every page; listens to the account's alerts as they fire. */
export const LiveAlerts = alerts.Provider;

/** Calls back with each alert of the account as it fires. */
export const useAlertFired = alerts.useEvent;

/** Calls `refresh` soon after alerts fired, at most once in `everyMs`, however many there are. */
export const useRefreshOnAlerts = alerts.useRefresh;
