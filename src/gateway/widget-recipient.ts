import { errorBody, errorEntry } from '../errors.js';
import type { Recipient } from '../inference/relay/recipient.js';
import type { UpstreamFailure } from '../inference/relay/upstream-failure.js';
import { eventData, isDone } from '../lib/upstream/sse-event.js';
import { SseSplitter } from '../lib/upstream/sse-splitter.js';

/** What a widget's answer adds to what the model says. */
export interface Signature {
  sessionId: string;
  /** The code that a message of the assistant goes out with. */
  sign(content: string): string;
  /** `x-request-id`. */
  id: string;
}

interface ChatAnswer {
  choices?: { message?: { content?: unknown } | null }[];
  usage?: unknown;
}

interface ChatChunk {
  choices?: ({ delta?: { content?: unknown } | null } | null)[];
  model?: unknown;
  created?: unknown;
  error?: { code?: unknown };
}

/**
 * A visitor of a site: gets what `/v1` sends, but an answer in the form of widgets, and each message of the assistant with its
 * code. What a node says of a failure is not passed on, since it may quote the system prompt.
 */
export class WidgetRecipient implements Recipient {
  readonly #splitter = new SseSplitter();
  #text = '';
  #last: ChatChunk = {};

  constructor(
    private readonly inner: Recipient,
    private readonly signature: Signature,
  ) {}

  get gone(): boolean {
    return this.inner.gone;
  }

  get full(): boolean {
    return this.inner.full;
  }

  onClose(listener: () => void): void {
    this.inner.onClose(listener);
  }

  onDrain(listener: () => void): void {
    this.inner.onDrain(listener);
  }

  answer(body: Buffer): void {
    const { choices, usage } = JSON.parse(body.toString()) as ChatAnswer;
    const said = choices?.[0]?.message?.content;
    const content = typeof said === 'string' ? said : '';
    const { sessionId, sign } = this.signature;
    const message = { role: 'assistant', content, mac: sign(content) };
    this.inner.answer(Buffer.from(JSON.stringify({ session_id: sessionId, message, usage })));
  }

  answerInParts(parts: readonly Buffer[]): void {
    this.answer(Buffer.concat(parts));
  }

  refuse({ code, options: { status, retryAfterSeconds } }: UpstreamFailure): void {
    const options = {
      ...(status !== undefined && { status }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    };
    this.inner.refuse({ code, options });
  }

  startStream(): void {
    this.inner.startStream();
  }

  send(events: Buffer): void {
    this.#splitter.push(events, (event) => this.#read(event));
    this.inner.send(events);
  }

  endStream(event: Buffer): void {
    const data = eventData(event);
    if (data && isDone(data)) {
      this.inner.send(this.#signed());
      this.inner.endStream(event);
      return;
    }
    const { error } = parsed(data);
    this.inner.endStream(failureEvent(error?.code));
  }

  awaitReader(): void {
    this.inner.awaitReader();
  }

  watchReading(): void {
    this.inner.watchReading();
  }

  cut(): void {
    this.inner.cut();
  }

  #read(event: Buffer): void {
    const chunk = parsed(eventData(event));
    const content = chunk.choices?.[0]?.delta?.content;
    if (typeof content === 'string') this.#text += content;
    this.#last = chunk;
  }

  /** A chunk in which nothing is said: clients that don't know its members pass over it. */
  #signed(): Buffer {
    const { sessionId, sign, id } = this.signature;
    const { model, created } = this.#last;
    const chunk = {
      id,
      object: 'chat.completion.chunk',
      created,
      model,
      choices: [{ index: 0, delta: {}, finish_reason: null }],
      session_id: sessionId,
      mac: sign(this.#text),
    };
    return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);
  }
}

/** The relay looks at the members that it knows and not at all that stands in a chunk. */
function parsed(data: Buffer | undefined): ChatChunk {
  try {
    return (JSON.parse(data?.toString() ?? '') ?? {}) as ChatChunk;
  } catch {
    return {};
  }
}

function failureEvent(code: unknown): Buffer {
  const known = code === 'upstream_timeout' || code === 'upstream_unavailable' ? code : 'upstream_error';
  return Buffer.from(`data: ${JSON.stringify(errorBody(known, { message: errorEntry(known).message }))}\n\n`);
}
