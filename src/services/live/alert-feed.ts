import type { ServiceContext } from '../../context.js';
import type { AlertEventOutput } from '../alerts/alerts.outputs.js';
import { createAccountStreams } from './account-streams.js';
import { type AlertInstant, alertInstant, freshAlerts } from './alert-feed.store.js';
import type { FeedPosition } from './feed-page.store.js';
import type { Signals } from './signals.js';

const PAGE = 500;

export interface AlertFeed {
  /** Each alert of the viewer that fires from now on, exactly once. */
  alertFired(context: ServiceContext): Promise<AsyncIterableIterator<AlertEventOutput>>;
}

/** The position of a follower. */
interface AlertMoment {
  known: AlertInstant;
  /** Position within the remaining pages, and what was known before the first of them. */
  rest?: { seen: AlertInstant; after: FeedPosition };
}

export function createAlertFeed({ signals }: { signals: Signals }): AlertFeed {
  const follow = createAccountStreams<AlertMoment, AlertEventOutput>({
    onSignal: signals.onAlerts,
    readsAtOnce: 1,
    sourceOf: ({ em }, accountId) => ({
      begin: async () => ({ known: await alertInstant(em) }),
      async advance({ known, rest }) {
        const seen = rest?.seen ?? known;
        const page = await freshAlerts(em, { accountId, seen, limit: PAGE, rest: rest?.after });
        const { events: rows, rest: after, ...now } = page;
        const whole = { known: rest ? known : now };
        return { rows, to: after ? { ...whole, rest: { seen, after } } : whole };
      },
      isWhole: ({ rest }) => rest === undefined,
    }),
  });
  return { alertFired: follow };
}
