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

/** Notifies other processes of accounts for which something was committed. Calls and flushes never wait for it. */
export interface FlushSignal {
  tell(accountIds: Iterable<string>): void;
  /** Sends what is pending and stops. */
  stop(): Promise<void>;
}

export interface FlushSignalOptions {
  /** Sends one payload to all listeners. */
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
 * At most one message per 100 ms, each with the accounts of the batches since the last one: NOTIFY takes a lock that
 * all commits share. A failed message is sent again together with newer accounts.
 */
export function createFlushSignal({ send, log, intervalMs = INTERVAL_MS }: FlushSignalOptions): FlushSignal {
  let waiting = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;
  let failing = false;

  const say = async (): Promise<void> => {
    timer = undefined;
    const saying = waiting;
    waiting = new Set();
    try {
      await send(encodeFlushed(saying));
      failing = false;
    } catch (error) {
      if (!failing) log.warn({ err: error }, 'failed to announce flushed usage and alerts; will retry');
      failing = true;
      for (const id of saying) waiting.add(id);
    }
  };
  const pause = (): void => {
    timer = setTimeout(
      () => {
        timer = undefined;
        if (waiting.size > 0) begin();
      },
      failing ? RETRY_MS : intervalMs,
    ).unref();
  };
  const begin = (): void => {
    sending = say().finally(() => {
      sending = undefined;
      pause();
    });
  };

  return {
    tell(accountIds) {
      for (const id of accountIds) waiting.add(id);
      if (waiting.size > 0 && !timer && !sending) begin();
    },
    async stop() {
      await within(GOODBYE_MS, sending ?? Promise.resolve());
      clearTimeout(timer);
      if (waiting.size > 0) await within(GOODBYE_MS, say());
      clearTimeout(timer);
    },
  };
}

/** Tells the platform processes whose usage was committed: over Redis where REDIS_URL says so, else PostgreSQL. */
export function openFlushSignal(config: Pick<Config, 'redisUrl'>, pool: Pool, log: Logger): FlushSignal {
  if (!config.redisUrl) return overPostgres(pool, log, (payload) => [[USAGE_FLUSHED_CHANNEL, payload]]);
  const redis = openRedis(config.redisUrl, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: SEND_TIMEOUT_MS,
    commandTimeout: SEND_TIMEOUT_MS,
    // A frozen server doesn't close its side.
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
  });
  // Each message reports separately whether it was sent.
  redis.on('error', () => undefined);
  const signal = createFlushSignal({
    log,
    async send(payload) {
      await redis.publish(USAGE_FLUSHED_CHANNEL, payload);
    },
  });
  return {
    tell: signal.tell,
    async stop() {
      await signal.stop();
      redis.disconnect();
    },
  };
}

/** Notifies the delivering processes and the platforms of fired alerts, always over PostgreSQL: alerts are rare. */
export const openAlertSignal = (pool: Pool, log: Logger): FlushSignal =>
  overPostgres(pool, log, (payload) => [
    [ALERT_PENDING_CHANNEL, ''],
    [ALERT_FIRED_CHANNEL, payload],
  ]);

/** Tells the platform processes whose calls were refused. Over PostgreSQL always: the counts are written once a second. */
export const openRefusedSignal = (pool: Pool, log: Logger): FlushSignal =>
  overPostgres(pool, log, (payload) => [[REFUSED_CALLS_CHANNEL, payload]]);

/** Sends notifications, channel by channel, in one statement. */
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
