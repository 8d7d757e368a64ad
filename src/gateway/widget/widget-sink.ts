import { errorBody, errorEntry } from '../../errors.js';
import type { ResponseSink } from '../../inference/relay/response-sink.js';
import type { UpstreamFailure } from '../../inference/relay/upstream-failure.js';
import type { JsonReader } from '../../lib/json-reader.js';
import { ThinkingFilter } from '../../lib/thinking.js';
import { answerTextIn } from '../../lib/upstream/answer-text.js';
import { COMMENT_EVENT, eventData, isDone } from '../../lib/upstream/sse-event.js';
import { SseSplitter } from '../../lib/upstream/sse-splitter.js';
import { parsedAnswer, TranslatingSink } from '../translating-sink.js';
import { READ_WIDGET_ANSWER, tokenCountsOf } from './read-widget-answer.js';

/** What a widget's answer adds to the model's text. */
export interface Signature {
  sessionId: string;
  /** Returns the code that is sent with a message of the assistant. */
  sign(content: string): string;
  /** `x-request-id`. */
  id: string;
}

interface ChatChunk {
  choices?: ({ delta?: { role?: unknown; content?: unknown } | null; finish_reason?: unknown } | null)[];
  model?: unknown;
  created?: unknown;
  usage?: unknown;
  error?: { code?: unknown; type?: unknown };
}

const FINISH_REASONS: readonly unknown[] = ['stop', 'length', 'content_filter', 'tool_calls'];
/** Keeps a connection busy, but shows no progress. */
const COMMENT = COMMENT_EVENT.toString();
/** Sent in place of the model's thinking, to show that it is at work. */
const THINKING = ': thinking\n\n';

/**
 * Translates a chat answer for a visitor of a site, and adds the code of each message of the assistant. Answers and chunks are
 * rebuilt from the model's text or refusal only. Everything else (an echoed prompt, thinking, error messages) may quote the system
 * prompt.
 */
export class WidgetSink extends TranslatingSink {
  readonly #splitter = new SseSplitter();
  readonly #thinking = new ThinkingFilter(false);
  #text = '';
  #last: ChatChunk = {};

  constructor(
    inner: ResponseSink,
    private readonly json: JsonReader,
    private readonly accountId: string,
    private readonly signature: Signature,
  ) {
    super(inner);
  }

  async translate(answer: Buffer): Promise<Buffer> {
    const { content, usage } = await this.json.read(this.accountId, READ_WIDGET_ANSWER, { body: answer });
    const { sessionId, sign } = this.signature;
    const message = { role: 'assistant', content, mac: sign(content) };
    return Buffer.from(JSON.stringify({ session_id: sessionId, message, usage }));
  }

  override refuse({ code, options: { status, retryAfterSeconds, noRetry } }: UpstreamFailure): void {
    const options = {
      ...(status !== undefined && { status }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      ...(noRetry && { noRetry }),
    };
    this.inner.refuse({ code, options });
  }

  send(events: Buffer): void {
    let translated = '';
    this.#splitter.push(events, (event) => {
      translated += this.#translated(event);
    });
    if (translated !== '') this.inner.send(Buffer.from(translated));
  }

  endStream(event: Buffer): void {
    const data = eventData(event);
    if (data && isDone(data)) {
      this.inner.send(this.#signed());
      this.inner.endStream(event);
      return;
    }
    const { error } = parsedAnswer<ChatChunk>(data);
    this.inner.endStream(failureEvent(error));
  }

  /** Translates an event for visitors. */
  #translated(event: Buffer): string {
    const data = eventData(event);
    if (!data) return COMMENT;
    const chunk = parsedAnswer<ChatChunk>(data);
    this.#last = chunk;
    const { choices, usage } = chunk;
    if (choices?.length === 0 && usage != null) return this.#chunk([], { usage: tokenCountsOf(usage) });
    const { delta, finish_reason: reason } = choices?.[0] ?? {};
    const { text, refusal, thinking } = answerTextIn(delta);
    const finish = FINISH_REASONS.includes(reason) ? (reason as string) : null;
    const answer = this.#thinking.take(text) + (finish === null ? '' : this.#thinking.rest());
    const newText = answer + refusal;
    const content = newText !== '' || typeof delta?.content === 'string' ? newText : undefined;
    if (content === undefined && finish === null)
      return thinking !== '' || this.#thinking.isThinking ? THINKING : COMMENT;
    this.#text += newText;
    const role = delta?.role === 'assistant' ? { role: 'assistant' } : {};
    return this.#chunk([{ index: 0, delta: { ...role, content }, finish_reason: finish }], {
      ...(usage != null && { usage: tokenCountsOf(usage) }),
    });
  }

  /** The chunk with session and code. Clients that don't know these members see an empty delta. */
  #signed(): Buffer {
    const { sessionId, sign } = this.signature;
    const rest = this.#thinking.rest();
    this.#text += rest;
    const code = { session_id: sessionId, mac: sign(this.#text) };
    const delta = rest === '' ? {} : { content: rest };
    return Buffer.from(this.#chunk([{ index: 0, delta, finish_reason: null }], code));
  }

  #chunk(choices: object[], more: object): string {
    const { model, created } = this.#last;
    const { id } = this.signature;
    const object = 'chat.completion.chunk';
    return `data: ${JSON.stringify({ id, object, created, model, choices, ...more })}\n\n`;
  }
}

/** Codes that are passed on to visitors. Others become `invalid_request` or `upstream_error`. */
const VISIBLE_CODES = ['upstream_timeout', 'upstream_unavailable', 'service_unavailable'] as const;

function failureEvent({ code, type }: NonNullable<ChatChunk['error']> = {}): Buffer {
  const general = type === errorEntry('invalid_request').type ? 'invalid_request' : 'upstream_error';
  const visible = VISIBLE_CODES.find((one) => one === code) ?? general;
  const body = errorBody(visible, { message: errorEntry(visible).message });
  return Buffer.from(`data: ${JSON.stringify(body)}\n\n`);
}
