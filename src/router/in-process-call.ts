import { Deadline } from '../lib/upstream/deadline.js';
import type { ServedBy } from '../lib/upstream/served-by.js';
import type { CallHandle } from '../lib/upstream/upstream.js';
import { type UpstreamHandler, UpstreamTimeoutError } from '../lib/upstream/upstream-handler.js';
import type { RouterSink } from './router-sink.js';

/** A call from this process: passes the router's answer to the handler as it arrives. A handler that pauses also pauses the node. */
export class InProcessCall implements RouterSink, CallHandle {
  begun = false;
  gone = false;
  /** Status of the answer; 0 until it begins. */
  status = 0;
  /** Undefined once the call is over. */
  #handler: UpstreamHandler | undefined;
  #paused = false;
  #servedBy: ServedBy | undefined;
  #onLeft: (() => void) | undefined;
  #onOver: (() => void) | undefined;
  #onDrain: (() => void) | undefined;
  /** Limits the time until the answer begins, whatever the router waits for: the node, the worker thread or memory. */
  readonly #deadline = new Deadline(() => this.#fail(new UpstreamTimeoutError(true)));

  constructor(handler: UpstreamHandler) {
    this.#handler = handler;
    this.#deadline.at = performance.now() + handler.timeouts.headersTimeoutMs;
  }

  onLeft(listener: () => void): void {
    this.#onLeft = listener;
  }

  onOver(listener: () => void): void {
    if (this.#handler) this.#onOver = listener;
    else listener();
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener;
  }

  servedBy(deployment: ServedBy | undefined): void {
    this.#servedBy = deployment;
  }

  answer(status: number, body: Buffer, retryAfterSeconds?: number): void {
    this.#begin(status, 'application/json', retryAfterSeconds);
    this.#data(body);
    this.endStream();
  }

  send(pieces: Buffer[]): boolean {
    if (!this.begun) this.#begin(200, 'text/event-stream');
    this.#data(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces));
    return !this.#paused;
  }

  endStream(): void {
    const handler = this.#finish();
    try {
      handler?.onEnd();
    } catch (error) {
      handler?.onError(error as Error);
    }
  }

  cut(): void {
    this.#finish()?.onError(new Error('the answer was cut off'));
  }

  abort(handler: UpstreamHandler): void {
    if (this.#handler === handler) this.#leave();
  }

  pause(handler: UpstreamHandler): void {
    if (this.#handler === handler) this.#paused = true;
  }

  resume(handler: UpstreamHandler): void {
    if (this.#handler !== handler || !this.#paused) return;
    this.#paused = false;
    this.#onDrain?.();
  }

  #begin(status: number, contentType: string, retryAfterSeconds?: number): void {
    this.begun = true;
    this.#deadline.clear();
    this.status = status;
    const head = {
      status,
      contentType,
      retryAfter: retryAfterSeconds === undefined ? undefined : String(retryAfterSeconds),
      requestId: undefined,
      servedBy: this.#servedBy,
    };
    this.#deliver((handler) => handler.onHead(head));
  }

  #data(bytes: Buffer): void {
    if (bytes.length > 0) this.#deliver((handler) => handler.onData(bytes));
  }

  /** If the handler throws, ends the call with that error; the node isn't to blame. */
  #deliver(event: (handler: UpstreamHandler) => void): void {
    const handler = this.#handler;
    if (!handler) return;
    try {
      event(handler);
    } catch (error) {
      if (this.#handler === handler) this.#fail(error as Error);
    }
  }

  /** Ends the call for a reason that isn't the node's fault. */
  #fail(error: Error): void {
    const handler = this.#handler;
    this.#leave();
    handler?.onError(error);
  }

  #leave(): void {
    this.gone = true;
    this.#finish();
    this.#onLeft?.();
  }

  #finish(): UpstreamHandler | undefined {
    const handler = this.#handler;
    this.#handler = undefined;
    this.#deadline.clear();
    if (handler) this.#onOver?.();
    return handler;
  }
}
