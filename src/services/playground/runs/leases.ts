import type { EntityManager } from '@mikro-orm/postgresql';
import type { Logger } from '../../../lib/logger.js';
import { createOutageLog } from '../../../lib/outage-log.js';
import { endAbandoned, renewLeases } from '../run-state.store.js';

export interface LeasesOptions {
  em(): EntityManager;
  log: Logger;
  /** Ids of the runs in this process. */
  held(): string[];
  cancel(runIds: readonly string[]): void;
}

export interface Leases {
  stop(): Promise<void>;
}

const BEAT_MS = 3_000;
const QUIET_MS = 5 * BEAT_MS;

/**
 * Renews the leases of this process's runs every few seconds, learns of cancellations whose notification was lost,
 * and ends the runs of dead processes. Renews first, so that no process ends its own runs after an outage of the
 * database.
 */
export function keepLeases({ em, log, held, cancel }: LeasesOptions): Leases {
  const outages = createOutageLog(log, 'the model playground', QUIET_MS);
  let beating: Promise<void> | undefined;
  const beat = async (): Promise<void> => {
    try {
      const ids = held();
      if (ids.length > 0) {
        const kept = await renewLeases(em(), ids);
        const wanted = new Set(kept.filter((run) => !run.cancel_requested).map(({ id }) => id));
        // Cancelled, deleted, or given up by another process. Runs that have ended in the meantime are no longer
        // held.
        cancel(ids.filter((id) => !wanted.has(id)));
      }
      const ended = await endAbandoned(em());
      if (ended > 0) log.warn({ runs: ended }, 'ended runs of a dead process');
    } catch (error) {
      outages.failed(error);
    }
  };
  const timer = setInterval(() => {
    beating ??= beat().finally(() => {
      beating = undefined;
    });
  }, BEAT_MS).unref();
  return {
    async stop() {
      clearInterval(timer);
      await beating;
      outages.close();
    },
  };
}
