import { Redis } from 'ioredis';
import type { Config } from '../../config.js';
import {
  ALERT_FIRED_CHANNEL,
  decodeFlushed,
  PLAYGROUND_CANCEL_CHANNEL,
  SESSIONS_CHANNEL,
  USAGE_FLUSHED_CHANNEL,
} from '../../db/invalidation.js';
import { listen } from '../../db/listen.js';
import type { Logger } from '../../lib/logger.js';
import { createSignalBoard, type SignalBoard, type Signals } from './signals.js';

export interface OpenSignals extends Signals {
  stop(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 2_000;
const DISCONNECT_TIMEOUT_MS = 50;
const RECONNECT_BASE_MS = 100;
const RECONNECT_MAX_MS = 2_000;

/**
 * Listens to the other processes: sessions and alerts over PostgreSQL, usage over Redis where there is one. Whatever was missed
 * while a connection was lost is made good by a signal to everybody.
 */
export function openSignals(config: Pick<Config, 'databaseUrl' | 'redisUrl'>, log: Logger): OpenSignals {
  const board = createSignalBoard();
  const { redisUrl } = config;
  const listener = listen({
    databaseUrl: config.databaseUrl!,
    channel: [
      ...[SESSIONS_CHANNEL, ALERT_FIRED_CHANNEL, PLAYGROUND_CANCEL_CHANNEL],
      ...(redisUrl ? [] : [USAGE_FLUSHED_CHANNEL]),
    ],
    log,
    onNotify(payload, channel) {
      if (channel === SESSIONS_CHANNEL) board.sessionsChanged(payload);
      else if (channel === PLAYGROUND_CANCEL_CHANNEL) board.playgroundCancelled(payload.split(','));
      else if (channel === ALERT_FIRED_CHANNEL) board.alertsFired(decodeFlushed(payload));
      else board.usageFlushed(decodeFlushed(payload));
    },
    onListening() {
      board.sessionsChanged(null);
      board.alertsFired(null);
      board.usageFlushed(null);
    },
  });
  const redis = redisUrl ? subscribe(redisUrl, board) : undefined;
  return {
    onUsage: board.onUsage,
    onAlerts: board.onAlerts,
    onSessions: board.onSessions,
    onPlaygroundCancel: board.onPlaygroundCancel,
    async stop() {
      redis?.disconnect();
      await listener.stop();
    },
  };
}

function subscribe(url: string, board: SignalBoard): Redis {
  const redis = new Redis(url, {
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepAlive: 10_000,
    // A frozen server doesn't close its side.
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    maxRetriesPerRequest: null,
    retryStrategy: (tries) =>
      Math.min(RECONNECT_MAX_MS, RECONNECT_BASE_MS * 2 ** Math.min(tries, 5)) * (0.5 + Math.random() / 2),
  });
  // It comes back by itself; the edge's breaker logs the loss.
  redis.on('error', () => undefined);
  redis.on('message', (_channel, payload) => board.usageFlushed(decodeFlushed(payload)));
  redis.on('ready', () => {
    redis.subscribe(USAGE_FLUSHED_CHANNEL).then(
      () => board.usageFlushed(null),
      () => undefined,
    );
  });
  return redis;
}
