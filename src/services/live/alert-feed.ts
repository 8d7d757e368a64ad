import { setTimeout as delay } from 'node:timers/promises';
import { requireViewer, type ServiceContext } from '../../context.js';
import { isDatabaseOutage } from '../../lib/database-outage.js';
import { createGate } from '../../lib/gate.js';
import type { AlertEventOutput } from '../alerts/alerts.outputs.js';
import { type AlertInstant, alertInstant, freshAlerts } from './alert-feed.store.js';
import { Bell } from './bell.js';
import { endable } from './endable.js';
import type { Signals } from './signals.js';

/** A signal that was lost costs at most so long. */
const PATIENCE_MS = 30_000;
const RETRY_MS = 1_000;
/** Readers of all subscriptions together: they must not take the connections of requests. */
const READERS = { atOnce: 1, waiting: 10_000 };

export interface AlertFeed {
  /** Each alert of the viewer once it has fired, from now on: none is left out and none comes twice. */
  alertFired(context: ServiceContext): Promise<AsyncIterableIterator<AlertEventOutput>>;
}

export function createAlertFeed({ signals }: { signals: Signals }): AlertFeed {
  const gate = createGate(READERS);

  async function* follow(
    { em }: ServiceContext,
    accountId: string,
    bell: Bell,
    start: AlertInstant,
  ): AsyncGenerator<AlertEventOutput, void> {
    let seen = start;
    while (!bell.stopped) {
      await bell.wait(PATIENCE_MS);
      while (!bell.stopped) {
        try {
          const fresh = await gate.run(() => freshAlerts(em, accountId, seen));
          yield* fresh.events;
          seen = fresh;
          break;
        } catch (error) {
          if (!isDatabaseOutage(error)) throw error;
          await delay(RETRY_MS);
        }
      }
    }
  }

  return {
    async alertFired(context) {
      const { accountId } = requireViewer(context);
      const bell = new Bell();
      const leave = signals.onAlerts(accountId, () => bell.ring());
      const end = (): void => {
        leave();
        bell.stop();
      };
      try {
        const start = await gate.run(() => alertInstant(context.em));
        return endable(follow(context, accountId, bell, start), end);
      } catch (error) {
        end();
        throw error;
      }
    },
  };
}
