import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { openRedis } from '../../lib/open-redis.js';
import { SCRIPTS, type ScriptName } from './redis-scripts.js';

/** A script with what it gets. */
export interface Command {
  name: ScriptName;
  keys: string[];
  /** Text and whole numbers. */
  args: (string | number)[];
}

const CONNECT_TIMEOUT_MS = 2_000;
/** A frozen server doesn't close its side. */
const DISCONNECT_TIMEOUT_MS = 50;

const DIGESTS = Object.fromEntries(
  Object.entries(SCRIPTS).map(([name, text]) => [name, createHash('sha1').update(text).digest('hex')]),
) as Record<ScriptName, string>;

/**
 * One connection to one Redis server, which runs scripts in the order they were given. Once lost it stays lost: whoever
 * wants another opens another.
 */
export class RedisNode {
  readonly #redis: Redis;
  /** Every script is loaded; whether the server is a node of a cluster. */
  readonly ready: Promise<{ isCluster: boolean }>;
  /** Whether commands of this turn wait for its end. */
  #gathering = false;

  /** `address`: host and port, as the cluster names them. `onLost` is called once, also after `close`. */
  constructor(
    readonly address: string,
    url: string,
    onLost: () => void,
  ) {
    this.#redis = openRedis(url, {
      // Nothing may wait for a connection, and nothing may be sent twice.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
      enableReadyCheck: false,
      // The client waits for this before it counts as ready, and doesn't notice that the connection closed in the
      // meantime: it would stay ready, and dead, forever.
      disableClientInfo: true,
      connectTimeout: CONNECT_TIMEOUT_MS,
      keepAlive: 10_000,
      disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    });
    // Who uses it reports each loss once.
    this.#redis.on('error', () => undefined);
    this.ready = new Promise((resolve, reject) => {
      this.#redis.once('ready', () => resolve(this.#load()));
      this.#redis.once('end', () => {
        reject(new Error('the connection to Redis was lost'));
        onLost();
      });
    });
    this.ready.catch(() => this.close());
  }

  close(): void {
    this.#redis.disconnect();
  }

  /** Runs a script. `asking`: although its slot is still on the way to this node. */
  async evaluate<T>({ name, keys, args }: Command, asking = false): Promise<T> {
    this.#gather();
    const ask = () => void (asking && this.#redis.asking().catch(() => undefined));
    try {
      ask();
      return (await this.#redis.evalsha(DIGESTS[name], keys.length, ...keys, ...args)) as T;
    } catch (error) {
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
      ask();
      return (await this.#redis.eval(SCRIPTS[name], keys.length, ...keys, ...args)) as T;
    }
  }

  /** Which slots are where, according to this node. Answered behind everything that was sent before. */
  slots(): Promise<unknown> {
    return this.#redis.cluster('SLOTS');
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

  /**
   * A frozen server takes connections and answers nothing, and one that reads its data refuses every command: nothing would
   * come of this connection.
   */
  async #load(): Promise<{ isCluster: boolean }> {
    const limit = setTimeout(() => this.close(), CONNECT_TIMEOUT_MS);
    try {
      const about = this.#redis.info('cluster').catch(() => '');
      const loaded = Object.values(SCRIPTS).map((text) => this.#redis.script('LOAD', text));
      const [text] = await Promise.all([about, ...loaded]);
      return { isCluster: (text as string).includes('cluster_enabled:1') };
    } finally {
      clearTimeout(limit);
    }
  }
}
