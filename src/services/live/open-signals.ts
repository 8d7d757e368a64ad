import type { Redis } from 'ioredis';
import type { Config } from '../../config.js';
import {
  ALERT_FIRED_CHANNEL,
  decodeFlushed,
  decodeInvalidation,
  INVALIDATION_CHANNEL,
  MODEL_HOURS_CHANNEL,
  NODE_NEWS_CHANNEL,
  NODES_CHANNEL,
  PLAYGROUND_CANCEL_CHANNEL,
  PROMPTS_CHANNEL,
  REFUSED_CALLS_CHANNEL,
  SESSIONS_CHANNEL,
  USAGE_FLUSHED_CHANNEL,
} from '../../db/invalidation.js';
import { listen } from '../../db/listen.js';
import { type BackOff, jitteredMs } from '../../lib/back-off.js';
import type { Logger } from '../../lib/logger.js';
import { openRedis } from '../../lib/open-redis.js';
import { createSignalBoard, type SignalBoard, type Signals } from './signals.js';

export interface OpenSignals extends Signals {
  stop(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 2_000;
const DISCONNECT_TIMEOUT_MS = 50;
const RECONNECT: BackOff = { firstMs: 100, maxMs: 2_000 };

/**
 * Listens to the other processes: for sessions, alerts and accounts over PostgreSQL, for usage over Redis where
 * configured. After a lost connection, a signal to every account makes up for missed ones.
 */
export function openSignals(
  config: Pick<Config, 'databaseDirectUrl' | 'redisUrl'>,
  log: Logger,
): OpenSignals {
  const board = createSignalBoard();
  const { redisUrl } = config;
  const listener = listen({
    databaseUrl: config.databaseDirectUrl!,
    channel: [
      SESSIONS_CHANNEL,
      ALERT_FIRED_CHANNEL,
      MODEL_HOURS_CHANNEL,
      INVALIDATION_CHANNEL,
      REFUSED_CALLS_CHANNEL,
      PROMPTS_CHANNEL,
      PLAYGROUND_CANCEL_CHANNEL,
      NODES_CHANNEL,
      NODE_NEWS_CHANNEL,
      ...(redisUrl ? [] : [USAGE_FLUSHED_CHANNEL]),
    ],
    log,
    onNotify(payload, channel) {
      if (channel === SESSIONS_CHANNEL) board.sessionsChanged(payload);
      else if (channel === PLAYGROUND_CANCEL_CHANNEL) board.playgroundCancelled(payload.split(','));
      else if (channel === ALERT_FIRED_CHANNEL) tellAlerts(board, decodeFlushed(payload));
      else if (channel === MODEL_HOURS_CHANNEL) board.modelHoursChanged();
      else if (channel === REFUSED_CALLS_CHANNEL) board.accountsChanged(decodeFlushed(payload));
      else if (channel === INVALIDATION_CHANNEL) board.accountsChanged(accountOf(payload));
      else if (channel === NODES_CHANNEL || channel === NODE_NEWS_CHANNEL) board.nodesChanged();
      else if (channel === PROMPTS_CHANNEL) board.promptsChanged([payload]);
      else board.usageFlushed(decodeFlushed(payload));
    },
    onListening() {
      board.sessionsChanged(null);
      board.accountsChanged(null);
      board.alertsFired(null);
      board.promptsChanged(null);
      board.usageFlushed(null);
      board.modelHoursChanged();
      board.nodesChanged();
    },
  });
  const redis = redisUrl ? subscribe(redisUrl, board) : undefined;
  return {
    ...board,
    async stop() {
      redis?.disconnect();
      await listener.stop();
    },
  };
}

/** An alert may mean that a guard has acted and changed its key. */
function tellAlerts(board: SignalBoard, accountIds: string[] | null): void {
  board.alertsFired(accountIds);
  board.accountsChanged(accountIds);
}

/** The accounts of an invalidation; null for all. */
function accountOf(payload: string): string[] | null {
  const change = decodeInvalidation(payload);
  if (!change) return [];
  if (change.kind === 'catalog') return null;
  const id = change.kind === 'account' ? change.id : change.accountId;
  return id === '' ? null : [id];
}

function subscribe(url: string, board: SignalBoard): Redis {
  const redis = openRedis(url, {
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepAlive: 10_000,
    // A frozen server doesn't close its side.
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    maxRetriesPerRequest: null,
    retryStrategy: (tries) => jitteredMs(RECONNECT, tries),
  });
  // The client reconnects by itself; the edge's breaker logs the loss.
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
