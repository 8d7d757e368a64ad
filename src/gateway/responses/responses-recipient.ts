import { type ErrorCode, errorEntry } from '../../errors.js';
import type { Recipient } from '../../inference/relay/recipient.js';
import { eventData, isDone } from '../../lib/upstream/sse-event.js';
import { SseSplitter } from '../../lib/upstream/sse-splitter.js';
import { parsedAnswer, TranslatingRecipient } from '../translating-recipient.js';
import { type ChatOutput, Output, type OutputEvent } from './output.js';
import { type ChatUsage, type Progress, statusOf } from './response-object.js';

interface ChatAnswer {
  model?: unknown;
  choices?: ({ message?: ChatOutput | null; delta?: ChatOutput | null; finish_reason?: unknown } | null)[];
  usage?: ChatUsage | null;
  error?: { code?: unknown; message?: unknown };
}

/** Translates what `/v1/chat/completions` would send into the Responses API. */
export class ResponsesRecipient extends TranslatingRecipient {
  readonly #splitter = new SseSplitter();
  readonly #output: Output;
  #events: string[] = [];
  #sequence = 0;
  #model: string;
  #finish: string | null = null;
  #usage: ChatUsage | null = null;

  constructor(
    inner: Recipient,
    /** Makes the JSON of the response as it is. */
    private readonly responseOf: (progress: Progress) => string,
    { requestId, model }: { requestId: string; model: string },
  ) {
    super(inner);
    this.#model = model;
    this.#output = new Output(requestId, (event) => this.#emit(event));
  }

  protected translated(answer: ChatAnswer): Buffer {
    this.#read(answer);
    this.#output.end();
    this.#events = [];
    return Buffer.from(this.#response(statusOf(this.#finish)));
  }

  override startStream(): void {
    super.startStream();
    const response = this.#response('in_progress');
    this.#emitWhole('response.created', response);
    this.#emitWhole('response.in_progress', response);
    this.inner.send(this.#take());
  }

  send(events: Buffer): void {
    this.#splitter.push(events, (event) => {
      const data = eventData(event);
      if (data) this.#read(parsedAnswer<ChatAnswer>(data));
    });
    if (this.#events.length > 0) this.inner.send(this.#take());
  }

  endStream(event: Buffer): void {
    const data = eventData(event);
    if (data && isDone(data)) this.#complete();
    else this.#fail(parsedAnswer<ChatAnswer>(data));
    this.inner.endStream(this.#take());
  }

  #read({ model, choices, usage }: ChatAnswer): void {
    if (typeof model === 'string') this.#model = model;
    if (usage) this.#usage = usage;
    const choice = choices?.[0];
    if (!choice) return;
    const output = choice.message ?? choice.delta;
    if (output) this.#output.add(output);
    if (typeof choice.finish_reason === 'string') this.#finish = choice.finish_reason;
  }

  #complete(): void {
    this.#output.end();
    const status = statusOf(this.#finish);
    this.#emitWhole(`response.${status}`, this.#response(status));
  }

  /** Some clients wait for `response.failed`; SDKs throw on `error`. */
  #fail({ error }: ChatAnswer): void {
    const code = typeof error?.code === 'string' ? error.code : 'upstream_error';
    const message =
      typeof error?.message === 'string' ? error.message : errorEntry('upstream_error' as ErrorCode).message;
    this.#emitWhole('response.failed', this.#response('failed', { code, message }));
    this.#emit({ type: 'error', code, message, param: null, error });
  }

  #response(status: Progress['status'], error: Progress['error'] = null): string {
    return this.responseOf({
      status,
      finish: this.#finish,
      model: this.#model,
      output: this.#output.items,
      usage: this.#usage,
      error,
    });
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
