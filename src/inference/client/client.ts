import {
  Connection,
  type ConnectionOwner,
  type ConnectionPatience,
  type UpstreamHandler,
} from './connection.js';
import type { Destination } from './socket.js';

export interface UpstreamClientOptions {
  /** `http:` or `https:`; its path is of no account. */
  url: URL;
  connectTimeoutMs: number;
  /** Until an answer begins. */
  headersTimeoutMs: number;
  /** Between two pieces of an answer. */
  bodyTimeoutMs: number;
  /**
   * Whether it surely returns each call's `x-request-id`, as our own proxy does. For any other upstream this is learned
   * from its first matching answer, since some send ids of their own.
   */
  echoes?: boolean;
}

const LONGEST_TICK_MS = 500;
/** No account's id. */
const ANY = '';
const SHORTEST_TICK_MS = 10;
/** A timeout is late by a quarter at most. */
const TICKS_PER_TIMEOUT = 4;

/**
 * At the end of the turn of the event loop that the call was made in. By then all that has arrived is read: what an
 * upstream sent unasked to a connection at rest is not taken for the answer of the next call, and a connection that it
 * has closed carries none. And whatever the caller left for the end of that turn before it made the call is done: the
 * call's intent is in the spool before the upstream knows of it. An immediate for each call keeps that order.
 */
const sendTaken = (connection: Connection): void => connection.send();

/**
 * Makes calls to the upstream over as many connections as there are calls at once, each kept for the next call. Only
 * what the edge needs of HTTP/1.1: a POST whose body is at hand, an answer that is read as it comes. A general client
 * took 11 µs more for each call (docs/decisions/0043).
 */
export class UpstreamClient implements ConnectionOwner {
  readonly #destination: Destination;
  readonly #common: string;
  readonly #patience: ConnectionPatience;
  readonly #all = new Set<Connection>();
  /**
   * Connections that rest: by account, or all under `ANY` once a stray answer would be noticed. The one that rested last
   * is taken first, so that those that are too many grow old.
   */
  readonly #resting = new Map<string, Connection[]>();
  readonly #ticker: NodeJS.Timeout;
  #echoes: boolean;

  constructor(options: UpstreamClientOptions) {
    const { url, connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, echoes = false } = options;
    this.#echoes = echoes;
    const tls = url.protocol === 'https:';
    const host = url.hostname.replace(/^\[|\]$/g, '');
    this.#destination = { host, port: Number(url.port) || (tls ? 443 : 80), tls };
    this.#common = ` HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n`;
    const shortest = Math.min(connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs) / TICKS_PER_TIMEOUT;
    const tickMs = Math.max(SHORTEST_TICK_MS, Math.min(LONGEST_TICK_MS, shortest));
    const ticks = (ms: number): number => Math.ceil(ms / tickMs);
    this.#patience = {
      tickMs,
      connectTicks: ticks(connectTimeoutMs),
      headTicks: ticks(headersTimeoutMs),
      bodyTicks: ticks(bodyTimeoutMs),
    };
    this.#ticker = setInterval(() => this.#tick(), tickMs).unref();
  }

  /**
   * Sends a POST. `fields` are the lines of its head that the call brings, each with its end: text of ours, or checked
   * to be free of line ends. The handler is called later, never from here.
   * @returns The connection that carries it, to pause, resume or abort it with the same handler.
   */
  post(path: string, fields: string, body: Buffer, handler: UpstreamHandler): Connection {
    const head = `POST ${path}${this.#common}${fields}content-length: ${body.length}\r\n\r\n`;
    const connection = this.#rested(handler.accountId) ?? this.#open();
    connection.take(head, body, handler);
    setImmediate(sendTaken, connection);
    return connection;
  }

  /** Ends all connections, and with them all calls. */
  destroy(): void {
    clearInterval(this.#ticker);
    for (const connection of [...this.#all]) connection.destroy();
  }

  free(connection: Connection): void {
    const place = this.#placeOf(connection.accountId);
    const resting = this.#resting.get(place);
    if (resting) resting.push(connection);
    else this.#resting.set(place, [connection]);
  }

  gone(connection: Connection): void {
    this.#all.delete(connection);
    const place = this.#placeOf(connection.accountId);
    const resting = this.#resting.get(place);
    if (!resting) return;
    const at = resting.indexOf(connection);
    if (at !== -1) resting.splice(at, 1);
    if (resting.length === 0) this.#resting.delete(place);
  }

  isAnswerTo(requestId: string, told: string | undefined): boolean {
    if (told === undefined) return !this.#echoes;
    if (told === requestId && !this.#echoes) this.#share();
    return told === requestId || !this.#echoes;
  }

  /** From now on an answer tells whose it is, so that any call may take any connection. */
  #share(): void {
    this.#echoes = true;
    const all = [...this.#resting.values()].flat();
    this.#resting.clear();
    this.#resting.set(ANY, all);
  }

  /** Without an echo, a stray answer looks like the next call's: it must not reach another account. */
  #placeOf(accountId: string | undefined): string {
    return this.#echoes ? ANY : (accountId ?? ANY);
  }

  #rested(accountId: string | undefined): Connection | undefined {
    const resting = this.#resting.get(this.#placeOf(accountId));
    for (let free = resting?.pop(); free; free = resting?.pop()) {
      if (free.usable) return free;
    }
    return undefined;
  }

  #open(): Connection {
    const connection = new Connection(this.#destination, this.#patience, this);
    this.#all.add(connection);
    return connection;
  }

  #tick(): void {
    for (const connection of [...this.#all]) connection.tick();
  }
}
