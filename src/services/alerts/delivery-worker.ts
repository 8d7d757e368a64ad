import type { AlertKind } from '../../entities/alerts/alert-subscription.js';
import { type DeliveryOptions, deliverAlert } from './delivery.js';
import { startDeliveryPool } from './delivery-pool.js';
import type { Places } from './take-due.store.js';

export interface DeliveryWorkerOptions
  extends Omit<DeliveryOptions, 'stopping' | 'leasedUntil' | 'attempted'> {
  /** Lease of an alert; longer than three attempts can take. */
  leaseMs?: number;
  /** Longest pause between two looks for due alerts. */
  pollMs?: number;
  places?: Readonly<Record<AlertKind, Places>>;
}

/** Delivers pending alerts. Any number of processes may run a worker: only one of them holds an alert at a time. */
export interface DeliveryWorker {
  /** Something may be due now. */
  wake(): void;
  /** Takes no new alerts, lets attempts in progress end, and releases unfinished ones; at most `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>;
}

/** With a poll every second, another process takes over from a dead one within a minute. */
const LEASE_MS = 55_000;
const POLL_MS = 1_000;
/**
 * Per process. Few emails at once, since one server takes them all. More webhook slots are reserved than one network
 * can sign up accounts in a day: each of those may hang once.
 */
export const PLACES: Readonly<Record<AlertKind, Places>> = {
  webhook: { total: 128, reserved: 64, perLane: 4, perAccount: 16 },
  email: { total: 12, reserved: 6, perLane: 3, perAccount: 3 },
};

export function startDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { em, log, leaseMs = LEASE_MS, pollMs = POLL_MS, places = PLACES } = options;
  const pools = (['webhook', 'email'] as const).map((kind) =>
    startDeliveryPool({
      ...{ kind, em, log, leaseMs, pollMs, places: places[kind] },
      deliver: (alert, hold) => deliverAlert(alert, { ...options, ...hold }),
    }),
  );
  return {
    wake() {
      for (const pool of pools) pool.wake();
    },
    async stop(timeoutMs) {
      await Promise.all(pools.map((pool) => pool.stop(timeoutMs)));
    },
  };
}
