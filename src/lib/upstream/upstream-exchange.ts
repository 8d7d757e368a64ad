import { type Dispatcher, errors } from 'undici';
import { Deadline } from './deadline.js';
import { type ResponseHead, type ResponseHeaders, ResponseParseError, readHead } from './response-head.js';
import type { UpstreamConnection } from './upstream-connection.js';
import { type UpstreamHandler, UpstreamTimeoutError } from './upstream-handler.js';

/** The client that an exchange belongs to. */
export interface ExchangeOwner {
  readonly connectTimeoutMs: number;
  readonly isClosed: boolean;
  /** Whether a response with this `x-request-id`, if any, may belong to the call. */
  isAnswerTo(requestId: string, answered: string | undefined): boolean;
  /** Called at the end of an exchange. `reusable`: its connection may carry another one. */
  over(exchange: UpstreamExchange, reusable: boolean): void;
}

/**
 * One request and its response. Collects the bytes that undici reads until the read ends or a paused handler resumes, then passes them
 * on in one piece.
 */
export class UpstreamExchange implements Dispatcher.DispatchHandler {
  /** Set once undici starts the request. */
  #controller: Dispatcher.DispatchController | undefined;
  #head: ResponseHead | undefined;
  #pieces: Buffer[] = [];
  #end: Error | 'whole' | undefined;
  /** Whether the handler has received the head. */
  #begun = false;
  #delivering = false;
  #paused = false;
  #over = false;
  /** Whether the connection was open before the request. */
  #reused = false;
  /** Whether a response began before the whole request was sent. It may be a stray one. */
  #early = false;
  /** Latest time for the body to begin once the head has arrived. */
  #beginBy = Number.POSITIVE_INFINITY;
  readonly #deadline = new Deadline(() =>
    this.#fail(new UpstreamTimeoutError(this.#controller !== undefined)),
  );

  constructor(
    readonly connection: UpstreamConnection,
    private readonly request: Dispatcher.DispatchOptions,
    private readonly handler: UpstreamHandler,
    private readonly owner: ExchangeOwner,
  ) {}

  /** Sends the request. The handler is called later, never from here. */
  send(): this {
    if (this.owner.isClosed) queueMicrotask(() => this.close());
    else if (!this.#over) this.#send();
    return this;
  }

  #send(): void {
    this.#reused = this.connection.isOpen;
    this.#wait();
    this.connection.dispatch(this.request, this);
  }

  pause(handler: UpstreamHandler): void {
    if (this.handler !== handler || this.#over) return;
    this.#paused = true;
    this.#deadline.at = Number.POSITIVE_INFINITY;
    this.#controller?.pause();
  }

  resume(handler: UpstreamHandler): void {
    if (this.handler !== handler || this.#over || !this.#paused) return;
    this.#paused = false;
    this.#wait();
    this.#deliverSoon();
  }

  /** Closes the connection, too, since the rest of the response would follow on it. */
  abort(handler: UpstreamHandler): void {
    if (this.handler === handler) this.#finish(false);
  }

  close(): void {
    this.#fail(new Error('the client is closed'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#controller) throw new Error('a request is sent once');
    this.#controller = controller;
    if (this.#paused) controller.pause();
    this.#wait();
  }

  /** Also called for informational responses. */
  onResponseStarted(): void {
    if (this.connection.hasUnsentBytes) this.#early = true;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    // Raw headers are views of the first read, which would stay in memory as long as the response.
    controller.rawHeaders = undefined;
    if (status < 200) return;
    const head = readHead(status, headers);
    const { requestId } = this.handler;
    if (requestId !== undefined && !this.owner.isAnswerTo(requestId, head.requestId))
      throw new ResponseParseError('the response belongs to another call');
    this.#head = head;
    this.#beginBy = this.#deadline.at;
    this.#deliverSoon();
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#pieces.push(chunk);
    this.#deliverSoon();
  }

  onResponseEnd(): void {
    // undici treats a reset as the end of a response without a length.
    this.#end = this.connection.error ?? 'whole';
    this.#deliverSoon();
  }

  onResponseError(_: unknown, error: Error): void {
    if (this.#over) return;
    if (!this.#controller && this.#reused && !this.connection.isOpen) {
      // A kept connection broke before the request was sent: send it over a new one.
      setImmediate(() => this.send());
      return;
    }
    this.#end = error instanceof errors.ConnectTimeoutError ? new UpstreamTimeoutError(false) : error;
    this.#deliverSoon();
  }

  #deliverSoon(): void {
    if (this.#delivering) return;
    this.#delivering = true;
    queueMicrotask(this.#deliver);
  }

  readonly #deliver = (): void => {
    this.#delivering = false;
    if (this.#over || this.#paused) return;
    try {
      if (this.#head && !this.#begun) {
        this.#begun = true;
        this.handler.onHead(this.#head);
      }
      if (this.#pieces.length > 0 && !this.#over) this.handler.onData(this.#takePieces());
    } catch (error) {
      this.#fail(error as Error);
    }
    if (this.#over) return;
    if (this.#end === 'whole') this.#complete();
    else if (this.#end) this.#fail(this.#end);
    else this.#moveOn();
    if (!this.#paused) this.#controller?.resume();
  };

  /** Copies small pieces, so that a handler that keeps a few bytes doesn't keep the memory of the whole read. */
  #takePieces(): Buffer {
    const pieces = this.#pieces;
    this.#pieces = [];
    const [first] = pieces as [Buffer];
    return pieces.length === 1 && first.length * 2 >= first.buffer.byteLength ? first : Buffer.concat(pieces);
  }

  /** Sets the deadline for the next step. */
  #wait(): void {
    if (this.#paused) return;
    this.#deadline.at = Math.min(performance.now() + this.#allowedMs(), this.#beginBy);
  }

  #allowedMs(): number {
    if (!this.#controller) return this.owner.connectTimeoutMs;
    const { bodyTimeoutMs, headersTimeoutMs } = this.handler.timeouts;
    return this.#head ? bodyTimeoutMs : headersTimeoutMs;
  }

  #moveOn(): void {
    if (!this.#begun) return;
    if (this.handler.movedOn !== false) this.#beginBy = Number.POSITIVE_INFINITY;
    else if (this.#beginBy === Number.POSITIVE_INFINITY) return;
    this.#wait();
  }

  #complete(): void {
    this.#finish(!this.#early);
    try {
      this.handler.onEnd();
    } catch (error) {
      this.handler.onError(error as Error);
    }
  }

  #fail(error: Error): void {
    if (this.#finish(false)) this.handler.onError(error);
  }

  /** Returns false if the exchange was over already. */
  #finish(reusable: boolean): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.#pieces = [];
    this.#deadline.clear();
    this.owner.over(this, reusable);
    return true;
  }
}
