import { setImmediate as nextTurn } from 'node:timers/promises';
import { type BackOff, jitteredMs } from '../../lib/back-off.js';
import { redisUrls } from '../../lib/open-redis.js';
import type { ScriptName } from './redis-scripts.js';
import { NotAClusterError, RedisSession } from './redis-session.js';

/** What a script gets and gives: text and whole numbers. */
export type Argument = string | number;

/** Redis did not answer in time, or not at all. */
export class RedisUnavailableError extends Error {
  /** Whether the command may still take effect; `late` tells. */
  late = false;
}

export interface RedisLinkOptions {
  /** One server, or nodes of a cluster to ask for the others. */
  url: string;
  /** How long a caller waits for an answer. */
  timeoutMs?: number | undefined;
  /** Connected, with every script loaded. */
  onReady(): void;
  /** What is set can't be used. */
  onMisconfigured(reason: string): void;
  /** The connection is lost, or in a cluster one of them. */
  onLost(): void;
}

/** RELIABILITY.md F11. */
const COMMAND_TIMEOUT_MS = 50;
/** For what no caller waits for: the way back. */
export const PATIENT_TIMEOUT_MS = 1_000;
/** Nodes that answer nothing, or don't agree on the cluster, are tried again. */
const OPEN_TIMEOUT_MS = 5_000;
const RECONNECT: BackOff = { firstMs: 50, maxMs: 2_000 };

/** The way to Redis: runs scripts on one account in the order they were given, each within 50 ms or not at all. */
export class RedisLink {
  readonly #urls: string[];
  /** Nodes that the cluster had when it was last asked. */
  #found: string[] = [];
  #session: RedisSession | undefined;
  #isReady = false;
  #tries = 0;
  #turn = 0;
  #retry: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(private readonly options: RedisLinkOptions) {
    this.#urls = redisUrls(options.url);
    this.#connect();
  }

  /** Whether a script may only touch keys of one hash tag. */
  get isCluster(): boolean {
    return this.#session?.isCluster ?? false;
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
    timeoutMs?: number,
  ): Promise<T> {
    const session = this.#isReady ? this.#session : undefined;
    const answer = session?.evaluate<T>({ name, keys, args }) ?? Promise.reject(new Error('not connected'));
    return this.#within(answer, timeoutMs, late);
  }

  /**
   * Resolves when every node of a cluster has answered and is the one that it was.
   * @throws RedisUnavailableError
   */
  async agree(timeoutMs?: number): Promise<void> {
    const session = this.#session;
    if (session?.isCluster) await this.#within(session.agree(), timeoutMs);
  }

  /** Drops the connection with everything in progress, and opens another. */
  reconnect(): void {
    this.#session?.close();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    this.#session?.close();
    await nextTurn();
  }

  #connect(): void {
    const all = [...this.#urls, ...this.#found];
    const url = all[this.#turn++ % all.length]!;
    const session: RedisSession = new RedisSession(url, this.#urls.length > 1, () => this.#lost(session));
    this.#session = session;
    const limit = setTimeout(() => session.close(), OPEN_TIMEOUT_MS);
    const opened = session.ready().finally(() => clearTimeout(limit));
    opened.then(
      () => {
        if (session !== this.#session) return;
        this.#tries = 0;
        if (session.isCluster) this.#found = session.urls;
        this.#isReady = true;
        this.options.onReady();
      },
      (error: Error) => {
        if (error instanceof NotAClusterError) this.options.onMisconfigured(error.message);
        session.close();
      },
    );
  }

  #lost(session: RedisSession): void {
    if (session !== this.#session) return;
    this.#session = undefined;
    this.#isReady = false;
    if (this.#stopped) return;
    this.#retry = setTimeout(() => this.#connect(), jitteredMs(RECONNECT, this.#tries++));
    this.options.onLost();
  }

  #within<T>(
    answer: Promise<T>,
    timeoutMs = this.options.timeoutMs ?? COMMAND_TIMEOUT_MS,
    late?: (answer?: T) => void,
  ): Promise<T> {
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
}
