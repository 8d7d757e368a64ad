import { AppError } from '../../errors.js';
import type { JsonReader } from '../../lib/json-reader.js';
import type { MessageMask } from '../../lib/message-mask.js';
import { MAX_ERROR_BYTES } from '../../lib/upstream/answer-limits.js';
import type { ResponseHead } from '../../lib/upstream/response-head.js';
import type { CallHandle, Upstream } from '../../lib/upstream/upstream.js';
import type { CallTimeouts, UpstreamHandler } from '../../lib/upstream/upstream-handler.js';
import type { Call } from '../call.js';
import type { CallMetrics, DroppedKind } from '../call-metrics.js';
import type { Catalog } from '../catalog.js';
import type { BodyShare } from '../memory/body-budget.js';
import type { RelayAnswer, RelayContext, SilenceBounds } from './relay-answer.js';
import { JsonAnswer } from './relay-json.js';
import { StreamAnswer } from './relay-stream.js';
import type { ResponseSink } from './response-sink.js';
import { failureStatus, mapStatus, mapTransportError, type UpstreamFailure } from './upstream-failure.js';

const NOTHING = Buffer.alloc(0);

export interface RelayDeps {
  upstream: Upstream;
  timeouts: CallTimeouts;
  catalog: Catalog;
  metrics: CallMetrics;
  json: JsonReader;
}

/** Sends one call to the upstream and passes the answer to the sink. Nothing is retried once a byte has been forwarded. */
export class Relay implements UpstreamHandler, RelayContext {
  #handle: CallHandle | undefined;
  readonly #answer: RelayAnswer;
  #status = 0;
  #retryAfter: string | undefined;
  #errorBody: Buffer[] = [];
  #errorBytes = 0;
  #ended = false;
  #counted = false;
  /** Whether a whole answer is being read. */
  #isWhole = false;

  constructor(
    private readonly deps: RelayDeps,
    private readonly sink: ResponseSink,
    private readonly call: Call,
    /** The call's share of the memory for bodies, released when the connection is done with the call. */
    private readonly share: BodyShare,
    private readonly onOver: (relay: Relay) => void,
  ) {
    const Answer = call.input.body.stream ? StreamAnswer : JsonAnswer;
    this.#answer = new Answer(this, sink, call);
  }

  get requestId(): string {
    return this.call.input.id;
  }

  get accountId(): string {
    return this.call.input.payer.account.id;
  }

  get timeouts(): CallTimeouts {
    return this.deps.timeouts;
  }

  get mask(): MessageMask {
    return this.deps.upstream.mask;
  }

  get movedOn(): boolean {
    return this.#status !== 200 || this.#answer.movedOn;
  }

  get json(): JsonReader {
    return this.deps.json;
  }

  get answerRoom(): number {
    return this.share.answerRoom;
  }

  get models(): ReadonlySet<string> {
    return this.deps.catalog.names;
  }

  start(): void {
    const { id, endpoint, admission, body, span } = this.call.input;
    this.sink.onClose(() => this.#closed());
    if (body.stream) this.sink.onDrain(() => this.#resume());
    this.#handle = this.deps.upstream.call(
      {
        endpoint,
        authorization: admission.authorization,
        requestId: id,
        span,
        stream: body.stream,
      },
      body.forward,
      this,
    );
    // The upstream keeps the body for as long as it may retry.
    body.forward = NOTHING;
  }

  /** Called every `elapsedMs`. Sends a comment into a silent stream, so that no intermediary cuts the connection. */
  look(elapsedMs: number, bounds: SilenceBounds): void {
    // While a failure is written to the spool, nothing may be sent before its status.
    if (!this.call.settled && !this.sink.gone) this.#answer.look?.(elapsedMs, bounds);
  }

  /** Ends the call at the end of a shutdown: the client gets an error and pays nothing. */
  terminate(): void {
    this.fail({
      code: 'service_unavailable',
      options: { message: 'The service is restarting. Try again.', retryAfterSeconds: 1 },
    });
  }

  onHead({ status, contentType, retryAfter, servedBy }: ResponseHead): void {
    this.#status = status;
    this.call.servedBy(servedBy);
    this.#retryAfter = retryAfter;
    if (status !== 200) return;
    const wanted = this.call.input.body.stream ? 'text/event-stream' : 'application/json';
    if (!contentType.startsWith(wanted)) this.fail({ code: 'upstream_error', options: {} });
  }

  onData(chunk: Buffer): void {
    if (this.call.settled) {
      // Bytes after the last event: the upstream could go on forever.
      this.#abort();
      return;
    }
    if (this.#status === 200) {
      if (!this.#answer.data(chunk)) this.#pause();
      return;
    }
    this.#errorBytes += chunk.length;
    if (this.#errorBytes <= MAX_ERROR_BYTES) this.#errorBody.push(chunk);
    else this.#refused();
  }

  onEnd(): void {
    if (this.#ended) return;
    if (this.#status === 200) this.#answer.end();
    else this.#refused();
  }

  onError(error: Error): void {
    if (!this.#ended) this.fail(mapTransportError(error));
  }

  servedModel(name: string): string {
    return this.deps.catalog.get(name) ? name : this.call.input.admission.model.publicName;
  }

  dropped(kind: DroppedKind, count: number): void {
    this.deps.metrics.dropped(this.call.input.endpoint, kind, count);
  }

  sent(): void {
    if (!this.sink.gone) {
      if (this.share.holdsAnswer) this.sink.watchReading(() => this.share.dueBytes);
      return;
    }
    this.#ended = true;
    this.#answered('ok');
    this.onOver(this);
  }

  fail(failure: UpstreamFailure): void {
    if (this.#ended || this.call.settled) return;
    this.#ended = true;
    if (!this.#answer.fail(failure)) {
      const { code, options } = failure;
      const failed = { code, httpStatus: failureStatus(failure), message: options.message };
      this.call.fail(failed, () => this.sink.refuse(failure));
    }
    this.#answered(failure.code);
    this.#abort();
    // Otherwise the call is over when the error has been sent.
    if (this.sink.gone) this.onOver(this);
  }

  keep(bytes: number): boolean {
    try {
      this.share.grow(bytes);
      return true;
    } catch (error) {
      this.refuse(error as AppError);
      return false;
    }
  }

  shrink(bytes: number): void {
    this.share.shrink(bytes);
  }

  whole(read: () => Promise<void>): void {
    const unpin = this.share.pin();
    this.#isWhole = true;
    read()
      .catch((error: unknown) => {
        if (error instanceof AppError) this.refuse(error);
        else this.onError(error as Error);
      })
      .finally(() => {
        this.#isWhole = false;
        unpin();
      });
  }

  refuse({ code, message, options }: AppError): void {
    this.fail({ code, options: { ...options, message } });
  }

  unrecorded(): void {
    this.sink.refuse({ code: 'service_unavailable', options: { retryAfterSeconds: 1 } });
  }

  #refused(): void {
    this.fail(mapStatus(this.#status, Buffer.concat(this.#errorBody), this.#retryAfter, this.mask));
  }

  #closed(): void {
    if (this.call.settled) {
      this.#ended = true;
      this.#answered('ok');
      this.onOver(this);
    }
    // A complete answer is charged even if the client has left.
    else if (!this.#isWhole) this.#clientGone();
  }

  /** The client left before the answer was complete. */
  #clientGone(): void {
    this.#answered('client_closed_request');
    this.#answer.clientGone(() => this.#left());
    // If the answer is still read, the upstream needn't wait for the client any more.
    this.#handle?.resume(this);
  }

  /** The client left and the call is settled. */
  #left(): void {
    this.#ended = true;
    this.#abort();
    this.onOver(this);
  }

  /** Counts how the call ended for its client, once. */
  #answered(code: string): void {
    if (this.#counted) return;
    this.#counted = true;
    const { endpoint, payer } = this.call.input;
    this.deps.metrics.answered(payer.credential.kind === 'widget' ? 'widget' : endpoint, code);
  }

  #abort(): void {
    this.#handle?.abort(this);
  }

  #pause(): void {
    this.#handle?.pause(this);
    this.sink.awaitReader();
  }

  #resume(): void {
    this.#handle?.resume(this);
  }
}
