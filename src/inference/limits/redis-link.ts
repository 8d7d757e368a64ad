import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { type BackOff, jitteredMs } from '../../lib/back-off.js';
import { openRedis } from '../../lib/open-redis.js';
import { SCRIPTS, type ScriptName } from './redis-scripts.js';

/** What a script gets and gives: text and whole numbers. */
export type Argument = string | number;

/** Redis did not answer in time, or not at all. */
export class RedisUnavailableError extends Error {
  /** Whether the command may still take effect; `late` tells. */
  late = false;
}

export interface RedisLinkOptions {
  url: string;
  /** How long a caller waits for an answer. */
  timeoutMs?: number | undefined;
  /** Connected, with every script loaded. */
  onReady(): void;
  /** The connection is lost. */
  onLost(): void;
}

/** RELIABILITY.md F11. */
const COMMAND_TIMEOUT_MS = 50;
/** For what no caller waits for: the way back. */
export const PATIENT_TIMEOUT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 2_000;
const RECONNECT: BackOff = { firstMs: 50, maxMs: 2_000 };

const DIGESTS = Object.fromEntries(
  Object.entries(SCRIPTS).map(([name, text]) => [name, createHash('sha1').update(text).digest('hex')]),
) as Record<ScriptName, string>;

/** One connection to Redis that runs scripts in the order they were given, each within 50 ms or not at all. */
export class RedisLink {
  readonly #redis: Redis;
  #stopped = false;
  /** Until every script is loaded on this connection. */
  #loading: NodeJS.Timeout | undefined;
  /** Whether commands of this turn wait for its end. */
  #gathering = false;
  /** Whether a script may only touch keys of one hash tag. */
  isCluster = false;

  constructor(private readonly options: RedisLinkOptions) {
    this.#redis = openRedis(options.url, {
      // Nothing may wait for a connection, and nothing may be sent twice.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      enableReadyCheck: false,
      // The client waits for this before it counts as ready, and doesn't notice that the connection closed in the
      // meantime: it would stay ready, and dead, forever.
      disableClientInfo: true,
      connectTimeout: CONNECT_TIMEOUT_MS,
      keepAlive: 10_000,
      // A frozen server doesn't close its side.
      disconnectTimeout: COMMAND_TIMEOUT_MS,
      retryStrategy: (tries) => jitteredMs(RECONNECT, tries),
    });
    // The breaker reports each loss once.
    this.#redis.on('error', () => undefined);
    this.#redis.on('ready', () => this.#load());
    this.#redis.on('close', () => {
      clearTimeout(this.#loading);
      if (!this.#stopped) options.onLost();
    });
    // A connection that is dropped at the moment it begins is the client's last, unless configured otherwise.
    this.#redis.on('end', () => {
      if (!this.#stopped) this.#redis.connect().catch(() => undefined);
    });
  }

  /**
   * Runs a script. `late` is called once after a time-out, with the answer, which has taken effect all the same, or
   * with undefined when none will come.
   * @throws RedisUnavailableError
   */
  run<T>(
    name: ScriptName,
    keys: string[],
    args: Argument[],
    late?: (answer?: T) => void,
    timeoutMs = this.options.timeoutMs ?? COMMAND_TIMEOUT_MS,
  ): Promise<T> {
    const answer = this.#evaluate<T>(name, keys, args);
    return new Promise((resolve, reject) => {
      let over = false;
      const timer = setTimeout(() => {
        // When this process itself was busy, the answer may lie in the socket: it is read first.
        void nextTurn().then(() => {
          if (over) return;
          over = true;
          const error = new RedisUnavailableError(`no response within ${timeoutMs} ms`);
          error.late = true;
          reject(error);
        });
      }, timeoutMs);
      answer.then(
        (value) => {
          clearTimeout(timer);
          if (over) late?.(value);
          over = true;
          resolve(value);
        },
        (error: Error) => {
          clearTimeout(timer);
          if (over) late?.();
          over = true;
          reject(new RedisUnavailableError(error.message, { cause: error }));
        },
      );
    });
  }

  /** Drops the connection with everything in progress, and opens another. */
  reconnect(): void {
    if (!this.#stopped) this.#redis.disconnect(true);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#loading);
    this.#redis.disconnect();
    await nextTurn();
  }

  /** What is asked in one turn of the event loop leaves in one write, and its answers mostly come in one read. */
  #gather(): void {
    if (this.#gathering) return;
    const { stream } = this.#redis;
    this.#gathering = true;
    stream?.cork();
    setImmediate(() => {
      this.#gathering = false;
      stream?.uncork();
    });
  }

  async #evaluate<T>(name: ScriptName, keys: string[], args: Argument[]): Promise<T> {
    this.#gather();
    try {
      return (await this.#redis.evalsha(DIGESTS[name], keys.length, ...keys, ...args)) as T;
    } catch (error) {
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
      return (await this.#redis.eval(SCRIPTS[name], keys.length, ...keys, ...args)) as T;
    }
  }

  /**
   * A frozen server takes connections and answers nothing, and one that reads its data refuses every command: another try
   * then, since nothing else would come of this connection.
   */
  #load(): void {
    clearTimeout(this.#loading);
    const limit = setTimeout(() => this.reconnect(), CONNECT_TIMEOUT_MS);
    this.#loading = limit;
    const about = this.#redis.info('cluster').catch(() => '');
    const loaded = Object.values(SCRIPTS).map((text) => this.#redis.script('LOAD', text));
    Promise.all([about, ...loaded]).then(
      ([text]) => {
        clearTimeout(limit);
        this.isCluster = (text as string).includes('cluster_enabled:1');
        this.options.onReady();
      },
      () => undefined,
    );
  }
}
