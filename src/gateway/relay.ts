import type { ServerResponse } from 'node:http';
import { type AppError, errorEntry } from '../errors.js';
import { type AnswerHeaders, answerError, v1Headers } from './answer.js';
import type { BodyShare } from './body-budget.js';
import type { Call } from './call.js';
import type { Catalog } from './catalog.js';
import type { DroppedKind, EdgeMetrics } from './edge-metrics.js';
import { JsonAnswer } from './relay-json.js';
import { StreamAnswer } from './relay-stream.js';
import type { UpstreamClient } from './upstream/client.js';
import type { Connection, UpstreamHandler } from './upstream/connection.js';
import type { ResponseHead } from './upstream/response-head.js';
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
  readonly requestId: string;
  headers(): AnswerHeaders;
  /** The public name that served, from what the upstream's answer says. */
  servedModel(name: string): string;
  /** Counts what is dropped from the upstream's answer. */
  dropped(kind: DroppedKind, count: number): void;
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
  upstream: UpstreamClient;
  /** Path prefix of the upstream's address, without a trailing slash. */
  basePath: string;
  catalog: Catalog;
  metrics: EdgeMetrics;
  /** Milliseconds after which a reader that takes nothing is cut (RELIABILITY.md F23). */
  stalledReaderMs: number;
}

const fieldsAccepting = (type: string): string =>
  `content-type: application/json\r\naccept: ${type}\r\naccept-encoding: identity\r\n`;
const FIELDS = fieldsAccepting('application/json');
const STREAM_FIELDS = fieldsAccepting('text/event-stream');

const PATHS = { chat: '/v1/chat/completions', embeddings: '/v1/embeddings' } as const;

/** Carries one call to the model proxy and its answer back. Nothing is retried after a forwarded byte. */
export class Relay implements UpstreamHandler, RelayContext {
  #connection: Connection | undefined;
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
    private readonly onOver: (relay: Relay) => void,
  ) {}

  get requestId(): string {
    return this.call.input.id;
  }

  get accountId(): string {
    return this.call.input.entry.account.id;
  }

  start(): void {
    const { id, endpoint, admission, body } = this.call.input;
    this.response.on('close', () => this.#closed());
    if (body.stream) this.response.on('drain', () => this.#resume());
    const fields = `authorization: ${admission.authorization}\r\nx-request-id: ${id}\r\n`;
    this.#connection = this.deps.upstream.post(
      this.deps.basePath + PATHS[endpoint],
      fields + (body.stream ? STREAM_FIELDS : FIELDS),
      body.forward,
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

  onHead({ status, contentType, retryAfter }: ResponseHead): void {
    this.#status = status;
    this.#retryAfter = retryAfter;
    if (status !== 200) return;
    const wanted = this.call.input.body.stream ? 'text/event-stream' : 'application/json';
    if (!contentType.startsWith(wanted)) {
      this.fail({ code: 'upstream_error', options: {} });
      return;
    }
    const Answer = this.call.input.body.stream ? StreamAnswer : JsonAnswer;
    this.#answer = new Answer(this, this.response, this.call);
  }

  onData(chunk: Buffer): void {
    if (this.call.settled) {
      // Behind the last event: it could go on for ever.
      this.#abort();
      return;
    }
    if (this.#answer) {
      if (!this.#answer.data(chunk)) this.#pause();
      return;
    }
    this.#errorBytes += chunk.length;
    if (this.#errorBytes <= MAX_ERROR_BYTES) this.#errorBody.push(chunk);
    else this.#refused();
  }

  onEnd(): void {
    if (this.#ended) return;
    if (this.#answer) this.#answer.end();
    else this.#refused();
  }

  onError(error: Error): void {
    if (!this.#ended) this.fail(mapTransportError(error));
  }

  headers(): AnswerHeaders {
    const { id, admission, body } = this.call.input;
    const headers = v1Headers(this.response, id, admission.rate);
    if (body.dropped !== undefined) headers.push('x-gateway-dropped-fields', body.dropped);
    return headers;
  }

  servedModel(name: string): string {
    return this.deps.catalog.get(name) ? name : this.call.input.body.model;
  }

  dropped(kind: DroppedKind, count: number): void {
    this.deps.metrics.dropped(this.call.input.endpoint, kind, count);
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

  #refused(): void {
    this.fail(mapStatus(this.#status, Buffer.concat(this.#errorBody), this.#retryAfter));
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
    this.onOver(this);
  }

  #abort(): void {
    this.#connection?.abort(this);
  }

  #pause(): void {
    this.#connection?.pause(this);
    clearTimeout(this.#stalled);
    this.#stalled = setTimeout(() => this.response.destroy(), this.deps.stalledReaderMs);
    this.#stalled.unref();
  }

  #resume(): void {
    clearTimeout(this.#stalled);
    this.#connection?.resume(this);
  }
}
