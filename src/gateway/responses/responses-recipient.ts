import { type ErrorCode, errorEntry } from '../../errors.js';
import type { Recipient } from '../../inference/relay/recipient.js';
import { eventData, isDone } from '../../lib/upstream/sse-event.js';
import { SseSplitter } from '../../lib/upstream/sse-splitter.js';
import { parsedAnswer, TranslatingRecipient } from '../translating-recipient.js';
import { Output, type OutputEvent, type Said } from './output.js';
import { type ChatUsage, type Progress, statusOf } from './response-object.js';

interface ChatAnswer {
  model?: unknown;
  choices?: ({ message?: Said | null; delta?: Said | null; finish_reason?: unknown } | null)[];
  usage?: ChatUsage | null;
  error?: { code?: unknown; message?: unknown };
}

/** A client of the Responses API: gets what `/v1/chat/completions` would send, in the other form. */
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
    /** Makes the response of what is known. */
    private readonly responseOf: (progress: Progress) => Record<string, unknown>,
    { requestId, model }: { requestId: string; model: string },
  ) {
    super(inner);
    this.#model = model;
    this.#output = new Output(requestId, (event) => this.#tell(event));
  }

  answer(body: Buffer): void {
    this.#read(parsedAnswer<ChatAnswer>(body));
    this.#output.end();
    this.#events = [];
    this.inner.answer(Buffer.from(JSON.stringify(this.#response(statusOf(this.#finish)))));
  }

  override startStream(): void {
    super.startStream();
    const response = this.#response('in_progress');
    this.#tell({ type: 'response.created', response });
    this.#tell({ type: 'response.in_progress', response });
    this.inner.send(this.#taken());
  }

  send(events: Buffer): void {
    this.#splitter.push(events, (event) => {
      const data = eventData(event);
      if (data) this.#read(parsedAnswer<ChatAnswer>(data));
    });
    if (this.#events.length > 0) this.inner.send(this.#taken());
  }

  endStream(event: Buffer): void {
    const data = eventData(event);
    if (data && isDone(data)) this.#complete();
    else this.#fail(parsedAnswer<ChatAnswer>(data));
    this.inner.endStream(this.#taken());
  }

  #read({ model, choices, usage }: ChatAnswer): void {
    if (typeof model === 'string') this.#model = model;
    if (usage) this.#usage = usage;
    const choice = choices?.[0];
    if (!choice) return;
    const said = choice.message ?? choice.delta;
    if (said) this.#output.say(said);
    if (typeof choice.finish_reason === 'string') this.#finish = choice.finish_reason;
  }

  #complete(): void {
    this.#output.end();
    const status = statusOf(this.#finish);
    this.#tell({ type: `response.${status}`, response: this.#response(status) });
  }

  /** Some clients wait for the response that failed, others for the error; SDKs throw at that. */
  #fail({ error }: ChatAnswer): void {
    const code = typeof error?.code === 'string' ? error.code : 'upstream_error';
    const message =
      typeof error?.message === 'string' ? error.message : errorEntry('upstream_error' as ErrorCode).message;
    this.#tell({ type: 'response.failed', response: this.#response('failed', { code, message }) });
    this.#tell({ type: 'error', code, message, param: null, error });
  }

  #response(status: Progress['status'], error: Progress['error'] = null): Record<string, unknown> {
    return this.responseOf({
      status,
      finish: this.#finish,
      model: this.#model,
      output: this.#output.items,
      usage: this.#usage,
      error,
    });
  }

  #tell(event: OutputEvent): void {
    const numbered = { ...event, sequence_number: this.#sequence++ };
    this.#events.push(`event: ${event.type}\ndata: ${JSON.stringify(numbered)}\n\n`);
  }

  #taken(): Buffer {
    const bytes = Buffer.from(this.#events.join(''));
    this.#events = [];
    return bytes;
  }
}
