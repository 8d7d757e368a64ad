import { errorBody, errorEntry } from '../errors.js';
import type { Recipient } from '../inference/relay/recipient.js';
import type { UpstreamFailure } from '../inference/relay/upstream-failure.js';
import { eventData, isDone } from '../lib/upstream/sse-event.js';
import { SseSplitter } from '../lib/upstream/sse-splitter.js';
import { parsedAnswer, TranslatingRecipient } from './translating-recipient.js';

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
export class WidgetRecipient extends TranslatingRecipient {
  readonly #splitter = new SseSplitter();
  #text = '';
  #last: ChatChunk = {};

  constructor(
    inner: Recipient,
    private readonly signature: Signature,
  ) {
    super(inner);
  }

  answer(body: Buffer): void {
    const { choices, usage } = JSON.parse(body.toString()) as ChatAnswer;
    const said = choices?.[0]?.message?.content;
    const content = typeof said === 'string' ? said : '';
    const { sessionId, sign } = this.signature;
    const message = { role: 'assistant', content, mac: sign(content) };
    this.inner.answer(Buffer.from(JSON.stringify({ session_id: sessionId, message, usage })));
  }

  override refuse({ code, options: { status, retryAfterSeconds } }: UpstreamFailure): void {
    const options = {
      ...(status !== undefined && { status }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    };
    this.inner.refuse({ code, options });
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
    const { error } = parsedAnswer<ChatChunk>(data);
    this.inner.endStream(failureEvent(error?.code));
  }

  #read(event: Buffer): void {
    const chunk = parsedAnswer<ChatChunk>(eventData(event));
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

function failureEvent(code: unknown): Buffer {
  const known = code === 'upstream_timeout' || code === 'upstream_unavailable' ? code : 'upstream_error';
  return Buffer.from(`data: ${JSON.stringify(errorBody(known, { message: errorEntry(known).message }))}\n\n`);
}
