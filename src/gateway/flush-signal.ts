import type { Pool } from 'pg';
import type { Config } from '../config.js';
import { queryWithin } from '../db/bounded.js';
import {
  ALERT_FIRED_CHANNEL,
  ALERT_PENDING_CHANNEL,
  encodeFlushed,
  REFUSED_CALLS_CHANNEL,
  USAGE_FLUSHED_CHANNEL,
} from '../db/invalidation.js';
import type { Logger } from '../lib/logger.js';
import { openRedis } from '../lib/open-redis.js';
import { within } from '../lib/within.js';

/** Notifies other processes of accounts with committed changes. Calls and flushes never wait for it. */
export interface FlushSignal {
  notify(accountIds: Iterable<string>): void;
  /** Sends pending notifications and stops. */
  stop(): Promise<void>;
}

export interface FlushSignalOptions {
  /** Publishes one payload to all listeners. */
  send(payload: string): Promise<void>;
  log: Logger;
  intervalMs?: number;
}

const INTERVAL_MS = 100;
const RETRY_MS = 1_000;
const SEND_TIMEOUT_MS = 2_000;
const DISCONNECT_TIMEOUT_MS = 50;
const GOODBYE_MS = 500;

/**
 * Sends at most one message per 100 ms, with all accounts since the last one, because NOTIFY takes a lock that all commits share.
 * Accounts of a failed message are sent again with the next one.
 */
export function createFlushSignal({ send, log, intervalMs = INTERVAL_MS }: FlushSignalOptions): FlushSignal {
  let pending = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;
  let failing = false;

  const sendPending = async (): Promise<void> => {
    timer = undefined;
    const accountIds = pending;
    pending = new Set();
    try {
      await send(encodeFlushed(accountIds));
      failing = false;
    } catch (error) {
      if (!failing) log.warn({ err: error }, 'failed to announce flushed usage and alerts; will retry');
      failing = true;
      for (const id of accountIds) pending.add(id);
    }
  };
  const pause = (): void => {
    timer = setTimeout(
      () => {
        timer = undefined;
        if (pending.size > 0) begin();
      },
      failing ? RETRY_MS : intervalMs,
    ).unref();
  };
  const begin = (): void => {
    sending = sendPending().finally(() => {
      sending = undefined;
      pause();
    });
  };

  return {
    notify(accountIds) {
      for (const id of accountIds) pending.add(id);
      if (pending.size > 0 && !timer && !sending) begin();
    },
    async stop() {
      await within(GOODBYE_MS, sending ?? Promise.resolve());
      clearTimeout(timer);
      if (pending.size > 0) await within(GOODBYE_MS, sendPending());
      clearTimeout(timer);
    },
  };
}

/** Notifies the platform of accounts with committed usage: over Redis if REDIS_URL is set, otherwise over PostgreSQL. */
export function openFlushSignal(config: Pick<Config, 'redisUrl'>, pool: Pool, log: Logger): FlushSignal {
  if (!config.redisUrl) return overPostgres(pool, log, (payload) => [[USAGE_FLUSHED_CHANNEL, payload]]);
  const redis = openRedis(config.redisUrl, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: SEND_TIMEOUT_MS,
    commandTimeout: SEND_TIMEOUT_MS,
    // A frozen server doesn't close its side of the connection.
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
  });
  // Each publish reports its own failure.
  redis.on('error', () => undefined);
  const signal = createFlushSignal({
    log,
    async send(payload) {
      await redis.publish(USAGE_FLUSHED_CHANNEL, payload);
    },
  });
  return {
    notify: signal.notify,
    async stop() {
      await signal.stop();
      redis.disconnect();
    },
  };
}

/** Notifies jobs (for delivery) and the platform of fired alerts. Always over PostgreSQL, since alerts are rare. */
export const openAlertSignal = (pool: Pool, log: Logger): FlushSignal =>
  overPostgres(pool, log, (payload) => [
    [ALERT_PENDING_CHANNEL, ''],
    [ALERT_FIRED_CHANNEL, payload],
  ]);

/** Notifies the platform of accounts with refused calls. Always over PostgreSQL: counts are written once a second. */
export const openRefusedSignal = (pool: Pool, log: Logger): FlushSignal =>
  overPostgres(pool, log, (payload) => [[REFUSED_CALLS_CHANNEL, payload]]);

/** Sends notifications to several channels in one statement. */
function overPostgres(
  pool: Pool,
  log: Logger,
  notifications: (payload: string) => [channel: string, payload: string][],
): FlushSignal {
  return createFlushSignal({
    log,
    async send(payload) {
      const values = notifications(payload).flat();
      const calls = values.flatMap((_value, i) => (i % 2 === 0 ? [`pg_notify($${i + 1}, $${i + 2})`] : []));
      await queryWithin(pool, { text: `select ${calls.join(', ')}`, values }, SEND_TIMEOUT_MS);
    },
  });
}
