import { type ErrorCode, errorEntry } from '../../errors.js';
import type { ResponseSink } from '../../inference/relay/response-sink.js';
import type { UpstreamFailure } from '../../inference/relay/upstream-failure.js';
import type { JsonReader } from '../../lib/json-reader.js';
import { COMMENT_EVENT, eventData, isDone } from '../../lib/upstream/sse-event.js';
import { SseSplitter } from '../../lib/upstream/sse-splitter.js';
import { parsedAnswer, TranslatingSink } from '../translating-sink.js';
import { callersName } from './callers-names.js';
import type { OutputEvent } from './output.js';
import type { ResponseFrame } from './response-object.js';
import { type ChatAnswer, ResponseState, TRANSLATE_ANSWER } from './response-state.js';

/** Translates a chat answer into one of the Responses API. */
export class ResponsesSink extends TranslatingSink {
  readonly #splitter = new SseSplitter();
  readonly #state: ResponseState;
  #events: string[] = [];
  #sequence = 0;

  constructor(
    inner: ResponseSink,
    private readonly json: JsonReader,
    private readonly accountId: string,
    private readonly frame: ResponseFrame,
  ) {
    super(inner);
    this.#state = new ResponseState(frame, (event) => this.#emit(event));
  }

  async translate(answer: Buffer): Promise<Buffer> {
    const input = { ...this.frame, body: answer };
    return (await this.json.read(this.accountId, TRANSLATE_ANSWER, input)).body;
  }

  override refuse({ code, options }: UpstreamFailure): void {
    const param = options.param && (callersName(options.param) ?? options.param);
    super.refuse({ code, options: { ...options, param } });
  }

  override startStream(): void {
    super.startStream();
    const response = this.#state.text('in_progress');
    this.#emitWhole('response.created', response);
    this.#emitWhole('response.in_progress', response);
    this.inner.send(this.#take());
  }

  send(events: Buffer): void {
    this.#splitter.push(events, (event) => {
      const data = eventData(event);
      if (data) this.#state.add(parsedAnswer<ChatAnswer>(data));
    });
    // Chunks without an event in this API become a comment, which keeps the connection alive.
    this.inner.send(this.#events.length > 0 ? this.#take() : COMMENT_EVENT);
  }

  endStream(event: Buffer): void {
    const data = eventData(event);
    if (data && isDone(data)) this.#complete();
    else this.#fail(parsedAnswer<ChatAnswer>(data));
    this.inner.endStream(this.#take());
  }

  #complete(): void {
    const status = this.#state.end();
    this.#emitWhole(`response.${status}`, this.#state.text(status));
  }

  /** Some clients wait for `response.failed`; SDKs throw on `error`. */
  #fail({ error }: ChatAnswer): void {
    const code = typeof error?.code === 'string' ? error.code : 'upstream_error';
    const message =
      typeof error?.message === 'string' ? error.message : errorEntry('upstream_error' as ErrorCode).message;
    this.#emitWhole('response.failed', this.#state.text('failed', { code, message }));
    const param = typeof error?.param === 'string' ? (callersName(error.param) ?? error.param) : null;
    this.#emit({ type: 'error', code, message, param, error: error && { ...error, param } });
  }

  #emit(event: OutputEvent): void {
    const numbered = { ...event, sequence_number: this.#sequence++ };
    this.#write(event.type, JSON.stringify(numbered));
  }

  #emitWhole(type: string, response: string): void {
    this.#write(type, `{"type":"${type}","response":${response},"sequence_number":${this.#sequence++}}`);
  }

  #write(type: string, data: string): void {
    this.#events.push(`event: ${type}\ndata: ${data}\n\n`);
  }

  #take(): Buffer {
    const bytes = Buffer.from(this.#events.join(''));
    this.#events = [];
    return bytes;
  }
}
