import type { Redis } from 'ioredis';
import type { Logger } from '../../../lib/logger.js';
import { openRedis } from '../../../lib/open-redis.js';

/** Messages between platform processes about runs in progress. Not stored anywhere. */
export interface RunBus {
  /** Whether other processes can be reached at all. */
  readonly isShared: boolean;
  publish(channel: string, message: string): void;
  /** Calls `listener` with each message after `ready` resolves. Returns a function that stops this. */
  subscribe(channel: string, listener: (message: string) => void, ready?: () => void): () => void;
  stop(): void;
}

const CONNECT_TIMEOUT_MS = 2_000;
const DISCONNECT_TIMEOUT_MS = 50;
const RECONNECT_BASE_MS = 100;
const RECONNECT_MAX_MS = 2_000;

/** For a single process, or several that share only the database. */
export const LONE_BUS: RunBus = {
  isShared: false,
  publish: () => undefined,
  subscribe: () => () => undefined,
  stop: () => undefined,
};

/** Over Redis if REDIS_URL is set. Lost messages are requested again (mirrors.ts). */
export function openRunBus(redisUrl: string | null, log: Logger): RunBus {
  if (redisUrl === null) return LONE_BUS;
  const listeners = new Map<string, Set<(message: string) => void>>();
  const connect = (options: { enableOfflineQueue: boolean }): Redis => {
    const redis = openRedis(redisUrl, {
      ...options,
      // Connects at the first message or subscription.
      lazyConnect: true,
      connectTimeout: CONNECT_TIMEOUT_MS,
      keepAlive: 10_000,
      disconnectTimeout: DISCONNECT_TIMEOUT_MS,
      maxRetriesPerRequest: null,
      retryStrategy: (tries) =>
        Math.min(RECONNECT_MAX_MS, RECONNECT_BASE_MS * 2 ** Math.min(tries, 5)) * (0.5 + Math.random() / 2),
    });
    // The client reconnects by itself; until then followers get finished runs from the database.
    redis.on('error', (error) =>
      log.debug({ err: error }, 'Redis is unavailable: runs are delivered when they end'),
    );
    redis.connect().catch(() => undefined);
    return redis;
  };
  const hearing = connect({ enableOfflineQueue: true });
  const saying = connect({ enableOfflineQueue: false });
  hearing.on('message', (channel, message) => {
    for (const listener of listeners.get(channel) ?? []) listener(message);
  });
  return {
    isShared: true,
    publish(channel, message) {
      saying.publish(channel, message).catch(() => undefined);
    },
    subscribe(channel, listener, ready = () => undefined) {
      const known = listeners.get(channel) ?? new Set();
      hearing.subscribe(channel).then(ready, () => undefined);
      listeners.set(channel, known.add(listener));
      return () => {
        known.delete(listener);
        if (known.size > 0 || listeners.get(channel) !== known) return;
        listeners.delete(channel);
        hearing.unsubscribe(channel).catch(() => undefined);
      };
    },
    stop() {
      hearing.disconnect();
      saying.disconnect();
    },
  };
}
