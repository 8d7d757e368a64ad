import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { type BackOff, jitteredMs } from '../../../lib/back-off.js';
import { evictionPolicy, openRedis } from '../../../lib/open-redis.js';
import { SCRIPTS, type ScriptName } from './redis-scripts.js';

/** Redis didn't answer in time. */
export class RedisUnavailableError extends Error {}

/** `REDIS_URL` is a node of a Redis Cluster, which has only some of the keys. */
export class RedisClusterError extends Error {
  constructor() {
    super(
      'REDIS_URL is a node of a Redis Cluster, which is not supported: set it to one Redis or Valkey server with cluster-enabled no',
    );
  }
}

export interface RedisLinkOptions {
  url: string;
  /** How long `run` waits for an answer, unless the call says otherwise. */
  timeoutMs?: number | undefined;
  /** Connected, with every script loaded. `policy`: the server's maxmemory-policy, if it reports one. */
  onReady(policy: string | undefined): void;
  /** The server can't be used. The connection is still retried, since the server may be replaced. */
  onUnusable(error: Error): void;
  /** The connection is lost. */
  onLost(): void;
}

/** For a command that a caller waits for (requirement F11). */
const COMMAND_TIMEOUT_MS = 50;
/** For a command that no caller waits for, as in recovery. */
export const PATIENT_TIMEOUT_MS = 1_000;
const OPEN_TIMEOUT_MS = 2_000;
/** A frozen server doesn't close its side. */
const DISCONNECT_TIMEOUT_MS = 50;
const RECONNECT: BackOff = { firstMs: 50, maxMs: 2_000 };

const DIGESTS = Object.fromEntries(
  Object.entries(SCRIPTS).map(([name, text]) => [name, createHash('sha1').update(text).digest('hex')]),
) as Record<ScriptName, string>;

/** One connection to Redis at a time. Runs scripts in order, and gives up on each after 50 ms. */
export class RedisLink {
  #redis: Redis | undefined;
  #isReady = false;
  #tries = 0;
  #retry: NodeJS.Timeout | undefined;
  #isStopped = false;
  /** Whether commands of this turn of the event loop are being gathered. */
  #isGathering = false;

  constructor(private readonly options: RedisLinkOptions) {
    this.#connect();
  }

  /**
   * Runs a script. After a timeout the script may still take effect, but before any script that is run later.
   * @throws RedisUnavailableError
   */
  run<T>(name: ScriptName, keys: string[], args: (string | number)[], timeoutMs?: number): Promise<T> {
    const redis = this.#isReady ? this.#redis : undefined;
    const answer = redis
      ? this.#evaluate<T>(redis, name, keys, args)
      : Promise.reject(new Error('not connected'));
    return within(answer, timeoutMs ?? this.options.timeoutMs ?? COMMAND_TIMEOUT_MS);
  }

  /** Drops the connection with all commands in progress, and opens another. */
  reconnect(): void {
    this.#redis?.disconnect();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    this.#redis?.disconnect();
    await nextTurn();
  }

  #connect(): void {
    const redis = openRedis(this.options.url, {
      // Nothing may wait for a connection, and nothing may be sent twice.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
      enableReadyCheck: false,
      // The client would wait for CLIENT SETINFO before it is ready, and not notice that the connection closed meanwhile: it
      // would stay ready, and dead, forever.
      disableClientInfo: true,
      connectTimeout: OPEN_TIMEOUT_MS,
      keepAlive: 10_000,
      disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    });
    this.#redis = redis;
    // `end` reports each loss once.
    redis.on('error', () => undefined);
    redis.once('ready', () => void this.#open(redis));
    redis.once('end', () => this.#lost(redis));
  }

  /** Loads the scripts, within a time limit: a frozen server accepts connections and answers nothing. */
  async #open(redis: Redis): Promise<void> {
    const limit = setTimeout(() => redis.disconnect(), OPEN_TIMEOUT_MS);
    try {
      const about = Promise.all([redis.info('cluster'), redis.info('memory')])
        .then((sections) => sections.join('\n'))
        .catch(() => '');
      const loaded = Object.values(SCRIPTS).map((text) => redis.script('LOAD', text));
      const [text] = await Promise.all([about, ...loaded]);
      if ((text as string).includes('cluster_enabled:1')) throw new RedisClusterError();
      if (redis !== this.#redis) return;
      this.#tries = 0;
      this.#isReady = true;
      this.options.onReady(evictionPolicy(text as string));
    } catch (error) {
      if (error instanceof RedisClusterError) this.options.onUnusable(error);
      redis.disconnect();
    } finally {
      clearTimeout(limit);
    }
  }

  #lost(redis: Redis): void {
    if (redis !== this.#redis) return;
    this.#redis = undefined;
    this.#isReady = false;
    if (this.#isStopped) return;
    this.#retry = setTimeout(() => this.#connect(), jitteredMs(RECONNECT, this.#tries++));
    this.options.onLost();
  }

  async #evaluate<T>(redis: Redis, name: ScriptName, keys: string[], args: (string | number)[]): Promise<T> {
    this.#gather(redis);
    try {
      return (await redis.evalsha(DIGESTS[name], keys.length, ...keys, ...args)) as T;
    } catch (error) {
      // A retry would run after later commands, out of order. The next connection loads the scripts instead.
      if ((error as Error).message.startsWith('NOSCRIPT')) redis.disconnect();
      throw error;
    }
  }

  /** Sends the commands of one turn of the event loop in one write, so that the answers mostly come in one read. */
  #gather({ stream }: Redis): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    stream?.cork();
    process.nextTick(() => {
      this.#isGathering = false;
      stream?.uncork();
    });
  }
}

function within<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const timer = setTimeout(() => {
      // If this process was busy, the answer may be waiting in the socket: let it be read first.
      void nextTurn().then(() => {
        if (!isOver) reject(new RedisUnavailableError(`no response within ${timeoutMs} ms`));
      });
    }, timeoutMs);
    answer.then(
      (value) => {
        isOver = true;
        clearTimeout(timer);
        resolve(value);
      },
      (error: Error) => {
        isOver = true;
        clearTimeout(timer);
        reject(new RedisUnavailableError(error.message, { cause: error }));
      },
    );
  });
}
