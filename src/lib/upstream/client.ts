import type { buildConnector } from 'undici';
import { SlotSet } from '../slot-set.js';
import { type PatientConnectorOptions, patientConnector } from './patient-connector.js';
import { UpstreamConnection } from './upstream-connection.js';
import { type ExchangeOwner, UpstreamExchange } from './upstream-exchange.js';
import type { UpstreamHandler } from './upstream-handler.js';

export interface UpstreamClientOptions {
  /** `http:` or `https:`; its path is ignored. */
  url: URL;
  connectTimeoutMs: number;
  /** How long a call waits for an upstream that refuses connections; by default not at all. Less than `connectTimeoutMs`. */
  patienceMs?: number;
  /**
   * Whether the upstream always returns a call's `x-request-id`, as our own proxy does. For other upstreams, the client learns this from
   * the first matching response, since some send ids of their own.
   */
  echoes?: boolean;
  /**
   * Without such ids: how long a connection must be idle before another account may use it. A stray response that arrives meanwhile
   * ends the connection. If left out, accounts never share connections.
   */
  sharedAfterMs?: number;
}

/** Less than one read of a socket, which takes up to 64 KiB. */
const READ_BYTES = 16 * 1024;
/** Headers of every call. */
const HEADERS = { 'content-type': 'application/json', 'accept-encoding': 'identity' };

/**
 * Sends calls to one upstream through undici. Each concurrent call has a connection, which is kept for later calls. An undici `Pool`
 * wouldn't do: it can't reserve a connection for an account, or close a doubtful one.
 */
export class UpstreamClient implements ExchangeOwner {
  readonly connectTimeoutMs: number;
  readonly #origin: string;
  readonly #connect: buildConnector.connector;
  readonly #running = new SlotSet<UpstreamExchange>();
  /** In the order in which they became idle. */
  readonly #idle: UpstreamConnection[] = [];
  #echoes: boolean;
  readonly #sharedAfterMs: number;
  #retired = false;
  #destroyed = false;

  constructor(options: UpstreamClientOptions) {
    const { url, connectTimeoutMs, echoes = false, sharedAfterMs = Number.POSITIVE_INFINITY } = options;
    this.#origin = url.origin;
    // With the small mark, a paused connection buffers one read instead of two.
    this.#connect = patientConnector({
      addresses: [url],
      patienceMs: options.patienceMs ?? 0,
      allowH2: false,
      timeout: connectTimeoutMs,
      highWaterMark: READ_BYTES,
    } as PatientConnectorOptions);
    this.connectTimeoutMs = connectTimeoutMs;
    this.#echoes = echoes;
    this.#sharedAfterMs = sharedAfterMs;
  }

  /** Whether calls fail from now on. */
  get isClosed(): boolean {
    return this.#destroyed;
  }

  /** Prepares a POST of JSON; call `send` to send it. */
  post(
    path: string,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
    handler: UpstreamHandler,
  ): UpstreamExchange {
    const connection =
      this.#takeIdle(handler.accountId) ?? new UpstreamConnection(this.#origin, this.#connect, this.#closed);
    connection.accountId = handler.accountId;
    const request = { path, method: 'POST', headers: { ...HEADERS, ...headers }, body } as const;
    const exchange = new UpstreamExchange(connection, request, handler, this);
    connection.slot = this.#running.add(exchange);
    return exchange;
  }

  /** Whether there is no connection. */
  get unused(): boolean {
    return this.#running.size === 0 && this.#idle.length === 0;
  }

  /** Closes idle connections now, and others after their call. */
  retire(): void {
    this.#retired = true;
    for (const connection of this.#idle.splice(0)) connection.destroy();
  }

  /** Closes all connections and aborts their calls. Later calls fail. */
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
    connection.idleSince = performance.now();
    this.#idle.push(connection);
  }

  readonly #closed = (connection: UpstreamConnection): void => {
    const at = this.#idle.indexOf(connection);
    if (at === -1) return;
    this.#idle.splice(at, 1);
    connection.destroy();
  };

  /**
   * Takes the most recently idle connection first, so that surplus ones time out. Without an echoed id, a stray response looks like the
   * next call's and must not reach another account.
   */
  #takeIdle(accountId: string | undefined): UpstreamConnection | undefined {
    if (this.#echoes) return this.#idle.pop();
    // A plain loop, since there may be hundreds of idle connections.
    for (let at = this.#idle.length - 1; at >= 0; at--)
      if (this.#idle[at]!.accountId === accountId) return this.#idle.splice(at, 1)[0];
    const [oldest] = this.#idle;
    return oldest && performance.now() - oldest.idleSince >= this.#sharedAfterMs
      ? this.#idle.shift()
      : undefined;
  }
}
