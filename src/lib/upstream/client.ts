import { buildConnector } from 'undici';
import { SlotSet } from '../slot-set.js';
import { UpstreamConnection } from './upstream-connection.js';
import { type ExchangeOwner, UpstreamExchange } from './upstream-exchange.js';
import type { UpstreamHandler } from './upstream-handler.js';

export interface UpstreamClientOptions {
  /** `http:` or `https:`; its path is ignored. */
  url: URL;
  connectTimeoutMs: number;
  /**
   * Whether it surely returns each call's `x-request-id`, as our own proxy does. For any other upstream this is learned
   * from its first matching response, since some send ids of their own.
   */
  echoes?: boolean;
  /**
   * Without such ids: how long a connection rests before another account's call may take it. A stray response arrives
   * meanwhile, which ends the connection. Never if left out.
   */
  sharedAfterMs?: number;
}

/** Less than one read of a socket, which takes up to 64 KiB. */
const READ_BYTES = 16 * 1024;
/** Of every call. */
const HEADERS = { 'content-type': 'application/json', 'accept-encoding': 'identity' };

/**
 * Makes calls to one upstream, by undici. There are as many connections as calls at once, each kept for the next call: an
 * undici `Pool` can't keep a connection for one account, or end one that is in doubt.
 */
export class UpstreamClient implements ExchangeOwner {
  readonly connectTimeoutMs: number;
  readonly #origin: string;
  readonly #connect: buildConnector.connector;
  readonly #running = new SlotSet<UpstreamExchange>();
  /** In the order in which they came to rest. */
  readonly #resting: UpstreamConnection[] = [];
  #echoes: boolean;
  readonly #sharedAfterMs: number;
  #retired = false;
  #destroyed = false;

  constructor(options: UpstreamClientOptions) {
    const { url, connectTimeoutMs, echoes = false, sharedAfterMs = Number.POSITIVE_INFINITY } = options;
    this.#origin = url.origin;
    // A paused connection holds no more than one read, not two.
    this.#connect = buildConnector({
      allowH2: false,
      timeout: connectTimeoutMs,
      highWaterMark: READ_BYTES,
    } as buildConnector.BuildOptions);
    this.connectTimeoutMs = connectTimeoutMs;
    this.#echoes = echoes;
    this.#sharedAfterMs = sharedAfterMs;
  }

  /** Whether it makes no more calls. */
  get isClosed(): boolean {
    return this.#destroyed;
  }

  /** Prepares a POST of JSON. Its `send` sends it. */
  post(
    path: string,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
    handler: UpstreamHandler,
  ): UpstreamExchange {
    const connection =
      this.#takeRested(handler.accountId) ??
      new UpstreamConnection(this.#origin, this.#connect, this.#closed);
    connection.accountId = handler.accountId;
    const request = { path, method: 'POST', headers: { ...HEADERS, ...headers }, body } as const;
    const exchange = new UpstreamExchange(connection, request, handler, this);
    connection.slot = this.#running.add(exchange);
    return exchange;
  }

  /** Whether it has no connection. */
  get unused(): boolean {
    return this.#running.size === 0 && this.#resting.length === 0;
  }

  /** Ends the connections at rest, and others once their call is over. */
  retire(): void {
    this.#retired = true;
    for (const connection of this.#resting.splice(0)) connection.destroy();
  }

  /** Ends all connections, and with them all calls; calls that come later fail. */
  destroy(): void {
    this.#destroyed = true;
    this.retire();
    for (const exchange of this.#running) exchange.close();
  }

  isAnswerTo(requestId: string, answered: string | undefined): boolean {
    if (answered === requestId) this.#echoes = true;
    return answered === requestId || !this.#echoes;
  }

  over(exchange: UpstreamExchange, reusable: boolean): void {
    const { connection } = exchange;
    this.#running.delete(connection.slot, exchange);
    if (!reusable || this.#retired || !connection.isOpen) {
      connection.destroy();
      return;
    }
    connection.restsSince = performance.now();
    this.#resting.push(connection);
  }

  readonly #closed = (connection: UpstreamConnection): void => {
    const at = this.#resting.indexOf(connection);
    if (at === -1) return;
    this.#resting.splice(at, 1);
    connection.destroy();
  };

  /**
   * The connection that rested last is taken first, so that those that are too many grow old. Without an echo, a stray response
   * looks like the next call's: it must not reach another account.
   */
  #takeRested(accountId: string | undefined): UpstreamConnection | undefined {
    if (this.#echoes) return this.#resting.pop();
    // A loop, since there are hundreds with hundreds of accounts.
    for (let at = this.#resting.length - 1; at >= 0; at--)
      if (this.#resting[at]!.accountId === accountId) return this.#resting.splice(at, 1)[0];
    const [oldest] = this.#resting;
    return oldest && performance.now() - oldest.restsSince >= this.#sharedAfterMs
      ? this.#resting.shift()
      : undefined;
  }
}
