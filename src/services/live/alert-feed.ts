import type { ServiceContext } from '../../context.js';
import type { AlertEventOutput } from '../alerts/alerts.outputs.js';
import { createAccountStreams } from './account-streams.js';
import { type AlertInstant, alertInstant, freshAlerts } from './alert-feed.store.js';
import type { Signals } from './signals.js';

export interface AlertFeed {
  /** Each alert of the viewer once it has fired, from now on: none is left out and none comes twice. */
  alertFired(context: ServiceContext): Promise<AsyncIterableIterator<AlertEventOutput>>;
}

export function createAlertFeed({ signals }: { signals: Signals }): AlertFeed {
  const follow = createAccountStreams<AlertInstant, AlertEventOutput>({
    onSignal: signals.onAlerts,
    readsAtOnce: 1,
    sourceOf: ({ em }, accountId) => ({
      begin: () => alertInstant(em),
      async advance(from) {
        const { events, ...to } = await freshAlerts(em, accountId, from);
        return { rows: events, to };
      },
      isWhole: () => true,
    }),
  });
  return { alertFired: follow };
}
