import { Connection, type ConnectionOwner, type UpstreamHandler } from './connection.js';
import { LateWatch } from './late-watch.js';
import { type Destination, destinationOf } from './socket.js';

export interface UpstreamClientOptions {
  /** `http:` or `https:`; its path is ignored. */
  url: URL;
  connectTimeoutMs: number;
  /**
   * Whether it surely returns each call's `x-request-id`, as our own proxy does. For any other upstream this is learned
   * from its first matching answer, since some send ids of their own.
   */
  echoes?: boolean;
  /**
   * Without such ids: how long a connection rests before another account's call may take it. An answer too many arrives
   * meanwhile, which ends the connection. Never if left out.
   */
  sharedAfterMs?: number;
}

/** Of every call. */
const FIELDS = 'connection: keep-alive\r\ncontent-type: application/json\r\naccept-encoding: identity\r\n';
/** No account's id. */
const ANY = '';

/**
 * At the end of the turn of the event loop that the call was made in. By then all that has arrived is read: what an
 * upstream sent unasked to a connection at rest is not taken for the answer of the next call, and a connection that it
 * has closed carries none. And whatever the caller left for the end of that turn before it made the call is done: the
 * call's intent is in the spool before the upstream knows of it. An immediate for each call keeps that order.
 */
const sendTaken = (connection: Connection): void => connection.send();
const endTaken = (connection: Connection): void => connection.destroy();

/**
 * Makes calls to one upstream over as many connections as there are calls at once, each kept for the next call. Only
 * what calls of models need of HTTP/1.1: a POST whose body is at hand, an answer that is read as it comes. A general
 * client took 11 µs more for each call (docs/decisions/0043).
 */
export class UpstreamClient implements ConnectionOwner {
  readonly #destination: Destination;
  readonly #common: string;
  readonly #connectTimeoutMs: number;
  readonly #all = new Set<Connection>();
  /**
   * Connections that rest: by account, or all under `ANY` once a stray answer would be noticed. The one that rested last
   * is taken first, so that those that are too many grow old.
   */
  readonly #resting = new Map<string, Connection[]>();
  #echoes: boolean;
  readonly #sharedAfterMs: number;
  readonly #watch = new LateWatch(() => this.#all);
  #retired = false;
  #destroyed = false;

  constructor(options: UpstreamClientOptions) {
    const { url, connectTimeoutMs, echoes = false, sharedAfterMs = Number.POSITIVE_INFINITY } = options;
    this.#echoes = echoes;
    this.#sharedAfterMs = sharedAfterMs;
    this.#connectTimeoutMs = connectTimeoutMs;
    this.#destination = destinationOf(url);
    this.#common = ` HTTP/1.1\r\nhost: ${url.host}\r\n${FIELDS}`;
  }

  /**
   * Sends a POST of JSON. `fields` are the lines of its head that the call brings, each with its end: text of ours, or checked
   * to be free of line ends. The handler is called later, never from here.
   * @returns The connection that carries it, to pause, resume or abort it with the same handler.
   */
  post(path: string, fields: string, body: Buffer, handler: UpstreamHandler): Connection {
    const head = `POST ${path}${this.#common}${fields}content-length: ${body.length}\r\n\r\n`;
    const connection = this.#rested(handler.accountId) ?? this.#open();
    connection.take(head, body, handler);
    setImmediate(this.#destroyed ? endTaken : sendTaken, connection);
    return connection;
  }

  /** Whether it has no connection. */
  get unused(): boolean {
    return this.#all.size === 0;
  }

  /** Ends the connections at rest, and others once their call is over. */
  retire(): void {
    this.#retired = true;
    for (const connection of [...this.#resting.values()].flat()) connection.destroy();
  }

  /** Ends all connections, and with them all calls; calls that come later fail. */
  destroy(): void {
    this.#destroyed = true;
    for (const connection of [...this.#all]) connection.destroy();
    this.#watch.stop();
  }

  free(connection: Connection): void {
    if (this.#retired) {
      connection.destroy();
      return;
    }
    connection.restsSince = performance.now();
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

  lookBy(dueAt: number): void {
    this.#watch.lookBy(dueAt);
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
    const place = this.#placeOf(accountId);
    const resting = this.#resting.get(place);
    for (let free = resting?.pop(); free; free = resting?.pop()) {
      // So that the accounts stay in the order in which their connections came to rest.
      if (resting!.length === 0) this.#resting.delete(place);
      if (free.usable) return free;
    }
    return this.#sharedAfterMs < Number.POSITIVE_INFINITY ? this.#restedLong() : undefined;
  }

  /** The connection of another account that has rested longest, if that is long enough. */
  #restedLong(): Connection | undefined {
    const before = performance.now() - this.#sharedAfterMs;
    for (const [place, resting] of this.#resting) {
      if (resting[0]!.restsSince > before) return undefined;
      const free = resting.shift()!;
      if (resting.length === 0) this.#resting.delete(place);
      if (free.usable) return free;
    }
    return undefined;
  }

  #open(): Connection {
    const connection = new Connection(this.#destination, this.#connectTimeoutMs, this);
    this.#all.add(connection);
    return connection;
  }
}
