import type { Socket } from 'node:net';
import { type ResponseHead, ResponseParseError } from './response-head.js';
import { ResponseReader, type ResponseSink } from './response-reader.js';
import { type Destination, openSocket, type SocketEvents } from './socket.js';

/** How long a call waits for its answer. */
export interface CallPatience {
  /** Until the answer begins: a stream with its first event that has data. */
  headersTimeoutMs: number;
  /** Between two pieces of it, or two such events. */
  bodyTimeoutMs: number;
}

/** Who made a call. After its end, an error or an abort it hears nothing more. */
export interface UpstreamHandler extends ResponseSink {
  /** The call's `x-request-id`, where it sends one. */
  readonly requestId?: string;
  /** Whose call it is. */
  readonly accountId?: string;
  readonly patience: CallPatience;
  /**
   * False: nothing but comments came with what it took last of a stream, or nothing yet behind the head. A node may send
   * them although its model hangs, so that they prolong no wait.
   */
  readonly movedOn?: boolean;
  /** The answer came whole. */
  onEnd(): void;
  onError(error: Error): void;
}

/** The upstream took longer than it may: to connect, to begin its answer, or to go on with it. */
export class UpstreamTimeoutError extends Error {
  readonly code = 'UPSTREAM_TIMEOUT';

  /** @param connected False: nothing of the call has been sent. */
  constructor(readonly connected: boolean) {
    super('the upstream took too long');
  }
}

/** Who hands out connections. */
export interface ConnectionOwner {
  /** It is ready for another call. */
  free(connection: Connection): void;
  /** It can carry none any more. */
  gone(connection: Connection): void;
  /** Whether an answer that carries the `x-request-id` `told`, if any, may belong to this call. */
  isAnswerTo(requestId: string, told: string | undefined): boolean;
  /** A connection is late if it hasn't moved on by then, in milliseconds of `performance.now()`. */
  lookBy(dueAt: number): void;
}

/** Up to here a call leaves as one text, which Node writes at once and without a copy on the heap. */
const ONE_PIECE_BYTES = 12 * 1024;

/** One connection to the upstream, which carries one call at a time. */
export class Connection implements SocketEvents {
  /** Whose call it carries, or carried last. */
  accountId: string | undefined;
  /** When it came to rest, if it rests. */
  restsSince = 0;
  /** When it is late, in milliseconds of `performance.now()`. Who is held up by its reader is not. */
  dueAt = Number.POSITIVE_INFINITY;
  #socket: Socket;
  #handler: UpstreamHandler | undefined;
  /** Of a call that has been sent. */
  #reader: ResponseReader | undefined;
  /** Of a call that is still to be sent. */
  #head = '';
  #body: Buffer | undefined;
  #connected = false;
  /** Whether an answer began before its request was fully sent. It may be a stray one, so no call follows. */
  #early = false;
  #paused = false;
  /** While only the head of an answer is there: when the rest has to begin at the latest. */
  #beginBy = Number.POSITIVE_INFINITY;
  /** Milliseconds that it may rest for between two calls. */
  #idleMs = 0;
  #gone = false;

  constructor(
    private readonly destination: Destination,
    private readonly connectTimeoutMs: number,
    private readonly owner: ConnectionOwner,
  ) {
    this.#socket = this.#open();
  }

  /** Whether a call may still be sent on it. */
  get usable(): boolean {
    return !this.#gone && this.#socket.writable;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Takes a call, to be sent by `send`: its head with the empty line, and its body. */
  take(head: string, body: Buffer, handler: UpstreamHandler): void {
    this.#handler = handler;
    this.accountId = handler.accountId;
    this.#head = head;
    this.#body = body;
    this.#wait();
  }

  /** Sends the call that was taken, if it still is to be sent. */
  send(): void {
    const head = this.#head;
    const body = this.#body;
    if (!this.#handler || !body) return;
    this.#head = '';
    this.#body = undefined;
    this.#reader = new ResponseReader(this.#handler, this.#check);
    const socket = this.#socket;
    if (body.length <= ONE_PIECE_BYTES) {
      socket.write(head + body.toString('latin1'), 'latin1');
      return;
    }
    socket.cork();
    socket.write(head, 'latin1');
    socket.write(body);
    socket.uncork();
  }

  /** Ends a call that is still its; the connection is closed, since the rest of the answer would follow. */
  abort(handler: UpstreamHandler): void {
    if (this.#handler === handler) this.#drop();
  }

  pause(handler: UpstreamHandler): void {
    if (this.#handler !== handler || this.#paused) return;
    this.#paused = true;
    this.dueAt = Number.POSITIVE_INFINITY;
    this.#socket.pause();
  }

  resume(handler: UpstreamHandler): void {
    if (this.#handler === handler) this.#goOn();
  }

  /** It hasn't moved on in time. */
  late(): void {
    this.#fail(new UpstreamTimeoutError(this.#connected));
  }

  destroy(): void {
    this.#fail(new Error('the client is closed'));
  }

  /** The socket is connected. */
  opened(): void {
    this.#connected = true;
    this.#wait();
  }

  /** The socket has read bytes. */
  read(bytes: Buffer): void {
    const reader = this.#reader;
    if (!reader) {
      this.#lost(new Error('the upstream sent data that no call requested'));
      return;
    }
    if (!reader.begun) {
      this.#beginBy = this.dueAt;
      if (this.#socket.writableLength > 0) this.#early = true;
    }
    try {
      reader.read(bytes);
    } catch (error) {
      if (this.#reader === reader) this.#fail(error as Error);
      return;
    }
    if (this.#reader !== reader) return;
    if (reader.done) this.#complete(reader.idleMs);
    // Pieces of a head and answers before the one that counts could go on for ever.
    else if (reader.begun) this.#moveOn();
  }

  #open(): Socket {
    const socket = openSocket(this.destination, this);
    socket.on('end', () => this.#ended());
    socket.on('error', (error) => this.#lost(error));
    socket.on('close', () => this.#lost(new Error('the upstream closed the connection')));
    return socket;
  }

  /** Refuses another call's answer: a stray one would shift the answers of all later calls on this connection. */
  readonly #check = (head: ResponseHead): void => {
    const asked = this.#handler?.requestId;
    if (asked !== undefined && !this.owner.isAnswerTo(asked, head.requestId))
      throw new ResponseParseError('the response belongs to another call');
  };

  /** Begins to wait for what comes next. */
  #wait(): void {
    if (this.#paused) return;
    this.dueAt = Math.min(performance.now() + this.#mostMs(), this.#beginBy);
    this.owner.lookBy(this.dueAt);
  }

  /** Some of the answer has come. */
  #moveOn(): void {
    if (this.#handler?.movedOn !== false) this.#beginBy = Number.POSITIVE_INFINITY;
    else if (this.#beginBy === Number.POSITIVE_INFINITY) return;
    this.#wait();
  }

  #mostMs(): number {
    if (!this.#handler) return this.#idleMs;
    if (!this.#connected) return this.connectTimeoutMs;
    const { bodyTimeoutMs, headersTimeoutMs } = this.#handler.patience;
    return this.#reader?.begun ? bodyTimeoutMs : headersTimeoutMs;
  }

  #complete(idleMs: number): void {
    const handler = this.#handler!;
    this.#handler = undefined;
    this.#reader = undefined;
    this.#beginBy = Number.POSITIVE_INFINITY;
    this.#goOn();
    // The upstream would read the unsent rest of this request as the next one.
    const unsent = this.#early || this.#socket.writableLength > 0;
    if (idleMs === 0 || unsent || !this.#socket.writable) {
      this.#drop();
    } else {
      this.#idleMs = idleMs;
      this.#wait();
      this.owner.free(this);
    }
    try {
      handler.onEnd();
    } catch (error) {
      handler.onError(error as Error);
    }
  }

  #ended(): void {
    const reader = this.#reader;
    if (!reader) {
      this.#lost(new Error('the upstream closed the connection'));
      return;
    }
    try {
      reader.end();
    } catch (error) {
      this.#fail(error as Error);
      return;
    }
    this.#complete(0);
  }

  /** The socket is of no use any more. A call that hasn't been sent on it gets another one. */
  #lost(error: Error): void {
    if (!this.#body) {
      this.#fail(error);
      return;
    }
    this.#socket.removeAllListeners();
    this.#socket.on('error', () => undefined);
    this.#socket.destroy();
    this.#connected = false;
    this.#early = false;
    this.#socket = this.#open();
    this.#wait();
    this.send();
  }

  #fail(error: Error): void {
    const handler = this.#handler;
    this.#drop();
    handler?.onError(error);
  }

  #drop(): void {
    this.#handler = undefined;
    this.#body = undefined;
    this.#reader?.stop();
    this.#reader = undefined;
    if (this.#gone) return;
    this.#gone = true;
    this.owner.gone(this);
    this.#socket.destroy();
  }

  #goOn(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#wait();
    this.#socket.resume();
  }
}
