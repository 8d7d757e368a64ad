import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { type AppError, errorEntry } from '../errors.js';
import { type AnswerHeaders, answerError, v1Headers } from './answer.js';
import type { BodyShare } from './body-budget.js';
import type { Call } from './call.js';
import type { Catalog } from './catalog.js';
import type { EdgeMetrics } from './edge-metrics.js';
import { JsonAnswer } from './relay-json.js';
import { StreamAnswer } from './relay-stream.js';
import { mapStatus, mapTransportError, type UpstreamFailure } from './upstream-failure.js';

/** How the answer's body is handled: whole JSON or a stream. */
export interface RelayAnswer {
  /** Takes the next bytes; false: pause the upstream until the client has read. */
  data(chunk: Buffer): boolean;
  /** The upstream ended as it should. */
  end(): void;
  /** Tells a failure in the middle; false: nothing has left yet, so that it can be a plain error answer. */
  fail(failure: UpstreamFailure): boolean;
  /** The client left: settles by what it had received. */
  clientGone(): void;
}

/** What the answers ask of the relay. */
export interface RelayContext {
  headers(): AnswerHeaders;
  /** The public name that served, from what the upstream's answer says. */
  servedModel(name: string): string;
  /** Ends the call with a failure of the upstream. */
  fail(failure: UpstreamFailure): void;
  /** Counts bytes of an answer that stay in memory until it has left; false: there is no room, and the call has failed. */
  keep(bytes: number): boolean;
  /** Ends the answer of a call whose event could not be kept. */
  unrecorded(): void;
  /** The whole answer is handed over: from here on the socket itself sees whether the rest of it is taken. */
  sent(): void;
}

const MAX_ERROR_BYTES = 64 * 1024;

export interface RelayDeps {
  upstream: Dispatcher;
  /** Path prefix of the upstream's address, without a trailing slash. */
  basePath: string;
  catalog: Catalog;
  metrics: EdgeMetrics;
  /** Milliseconds after which a reader that takes nothing is cut (RELIABILITY.md F23). */
  stalledReaderMs: number;
}

const PATHS = { chat: '/v1/chat/completions', embeddings: '/v1/embeddings' } as const;

/** Carries one call to the model proxy and its answer back. Nothing is retried after a forwarded byte. */
export class Relay implements Dispatcher.DispatchHandler, RelayContext {
  #controller: Dispatcher.DispatchController | undefined;
  #answer: RelayAnswer | undefined;
  #status = 0;
  #retryAfter: string | undefined;
  #errorBody: Buffer[] = [];
  #errorBytes = 0;
  #ended = false;
  #stalled: NodeJS.Timeout | undefined;

  constructor(
    private readonly deps: RelayDeps,
    private readonly response: ServerResponse,
    private readonly call: Call,
    /** Of the bodies in memory; given back when the connection is done with this call. */
    private readonly share: BodyShare,
    private readonly onEnd: (relay: Relay) => void,
  ) {}

  start(): void {
    const { id, endpoint, admission, body } = this.call.input;
    this.response.on('close', () => this.#closed());
    if (body.stream) this.response.on('drain', () => this.#resume());
    this.deps.upstream.dispatch(
      {
        method: 'POST',
        path: this.deps.basePath + PATHS[endpoint],
        // Names and values in turn: an object would be taken apart name by name.
        headers: [
          'authorization',
          admission.authorization,
          'content-type',
          'application/json',
          'accept',
          body.stream ? 'text/event-stream' : 'application/json',
          'accept-encoding',
          'identity',
          'x-request-id',
          id,
        ],
        body: body.forward,
      },
      this,
    );
  }

  /** Our shutdown has begun: the answer is this connection's last. */
  closeConnection(): void {
    if (!this.response.headersSent) this.response.setHeader('connection', 'close');
  }

  /** The end of our shutdown: who is still waiting gets an error and pays nothing. */
  terminate(): void {
    this.fail({
      code: 'service_unavailable',
      options: { message: 'The service is restarting. Try again.', retryAfterSeconds: 1 },
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended) controller.abort(new Error('the call is over'));
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    // Slices of what was read first: they would hold all of its 64 KiB as long as the call lasts.
    controller.rawHeaders = null;
    if (status < 200) return;
    this.#status = status;
    this.#retryAfter = single(headers['retry-after']);
    if (status !== 200) return;
    const type = single(headers['content-type']) ?? '';
    const wanted = this.call.input.body.stream ? 'text/event-stream' : 'application/json';
    if (!type.startsWith(wanted)) {
      this.fail({ code: 'upstream_error', options: {} });
      return;
    }
    const Answer = this.call.input.body.stream ? StreamAnswer : JsonAnswer;
    this.#answer = new Answer(this, this.response, this.call);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended) return;
    if (this.#answer) {
      if (!this.#answer.data(chunk)) this.#pause(controller);
      return;
    }
    this.#errorBytes += chunk.length;
    if (this.#errorBytes <= MAX_ERROR_BYTES) this.#errorBody.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#ended) return;
    if (this.#answer) this.#answer.end();
    else this.fail(mapStatus(this.#status, Buffer.concat(this.#errorBody), this.#retryAfter));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.#ended) this.fail(mapTransportError(error));
  }

  headers(): AnswerHeaders {
    return v1Headers(this.response, this.call.input.id, this.call.input.admission.rate);
  }

  servedModel(name: string): string {
    return this.deps.catalog.get(name) ? name : this.call.input.body.model;
  }

  sent(): void {
    const { socket } = this.response;
    if (socket && socket.writableLength > 0) socket.setTimeout(this.deps.stalledReaderMs);
  }

  fail(failure: UpstreamFailure): void {
    if (this.#ended || this.call.settled) return;
    this.#ended = true;
    if (!this.#answer?.fail(failure)) {
      const httpStatus = failure.options.status ?? errorEntry(failure.code).status;
      this.call.fail({ code: failure.code, httpStatus }, () =>
        answerError(this.response, failure.code, failure.options, this.headers()),
      );
    }
    this.deps.metrics.answered(this.call.input.endpoint, failure.code);
    this.#abort();
  }

  keep(bytes: number): boolean {
    try {
      this.share.grow(bytes);
      return true;
    } catch (error) {
      const { code, message, options } = error as AppError;
      this.fail({ code, options: { ...options, message } });
      return false;
    }
  }

  unrecorded(): void {
    answerError(this.response, 'service_unavailable', { retryAfterSeconds: 1 }, this.headers());
  }

  #closed(): void {
    clearTimeout(this.#stalled);
    if (!this.call.settled) {
      this.#ended = true;
      if (this.#answer) this.#answer.clientGone();
      else
        this.call.fail(
          { code: 'client_closed_request', httpStatus: 499, clientAborted: true },
          () => undefined,
        );
      this.deps.metrics.answered(this.call.input.endpoint, 'client_closed_request');
      this.#abort();
    } else if (!this.#ended) {
      this.#ended = true;
      this.deps.metrics.answered(this.call.input.endpoint, 'ok');
    }
    this.onEnd(this);
  }

  #abort(): void {
    this.#controller?.abort(new Error('the call is over'));
  }

  #pause(controller: Dispatcher.DispatchController): void {
    controller.pause();
    clearTimeout(this.#stalled);
    this.#stalled = setTimeout(() => this.response.destroy(), this.deps.stalledReaderMs);
    this.#stalled.unref();
  }

  #resume(): void {
    clearTimeout(this.#stalled);
    if (this.#controller?.paused) this.#controller.resume();
  }
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
