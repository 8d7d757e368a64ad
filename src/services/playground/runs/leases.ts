import type { EntityManager } from '@mikro-orm/postgresql';
import type { Logger } from '../../../lib/logger.js';
import { createOutageLog } from '../../../lib/outage-log.js';
import { endAbandoned, renewLeases } from '../run-state.store.js';

export interface LeasesOptions {
  em(): EntityManager;
  log: Logger;
  /** Ids of the runs that this process makes. */
  held(): string[];
  cancel(runIds: readonly string[]): void;
}

export interface Leases {
  stop(): Promise<void>;
}

const BEAT_MS = 3_000;
const QUIET_MS = 5 * BEAT_MS;

/**
 * Says every few seconds that the runs of this process are under way, learns of cancellations that no notification
 * brought, and ends the runs of processes that say nothing any more. It renews first: after an outage of the database no
 * process ends its own.
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
        // Cancelled, deleted, or given up for dead by another process. One that has ended meanwhile is held no more.
        cancel(ids.filter((id) => !wanted.has(id)));
      }
      const ended = await endAbandoned(em());
      if (ended > 0) log.warn({ runs: ended }, 'runs of a process that is gone were ended');
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
