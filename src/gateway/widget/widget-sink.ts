import { errorBody, errorEntry } from '../../errors.js';
import type { ResponseSink } from '../../inference/relay/response-sink.js';
import type { UpstreamFailure } from '../../inference/relay/upstream-failure.js';
import type { JsonReader } from '../../lib/json-reader.js';
import { ThinkingFilter } from '../../lib/thinking.js';
import { answerTextIn } from '../../lib/upstream/answer-text.js';
import { COMMENT_EVENT, eventData, isDone } from '../../lib/upstream/sse-event.js';
import { SseSplitter } from '../../lib/upstream/sse-splitter.js';
import { parsedAnswer, TranslatingSink } from '../translating-sink.js';
import { countsOf, READ_WIDGET_ANSWER } from './read-widget-answer.js';

/** What a widget's answer adds to what the model says. */
export interface Signature {
  sessionId: string;
  /** The code that a message of the assistant goes out with. */
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
/** In place of what a model thinks: it is at work. */
const THINKING = ': thinking\n\n';

/**
 * A visitor of a site: gets what `/v1` sends, but an answer in the form of widgets, and each message of the assistant with its
 * code. Answers and chunks are rebuilt from the model's text or refusal and nothing else of the node's: the echo of a prompt,
 * thinking and the words of a failure may quote the system prompt.
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
    let shown = '';
    this.#splitter.push(events, (event) => {
      shown += this.#shown(event);
    });
    if (shown !== '') this.inner.send(Buffer.from(shown));
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

  /** An event as visitors get it. */
  #shown(event: Buffer): string {
    const data = eventData(event);
    if (!data) return COMMENT;
    const chunk = parsedAnswer<ChatChunk>(data);
    this.#last = chunk;
    const { choices, usage } = chunk;
    if (choices?.length === 0 && usage != null) return this.#chunk([], { usage: countsOf(usage) });
    const { delta, finish_reason: reason } = choices?.[0] ?? {};
    const { text, refusal, thinking } = answerTextIn(delta);
    const finish = FINISH_REASONS.includes(reason) ? (reason as string) : null;
    const answer = this.#thinking.take(text) + (finish === null ? '' : this.#thinking.rest());
    const said = answer + refusal;
    const content = said !== '' || typeof delta?.content === 'string' ? said : undefined;
    if (content === undefined && finish === null)
      return thinking !== '' || this.#thinking.isThinking ? THINKING : COMMENT;
    this.#text += said;
    const role = delta?.role === 'assistant' ? { role: 'assistant' } : {};
    return this.#chunk([{ index: 0, delta: { ...role, content }, finish_reason: finish }], {
      ...(usage != null && { usage: countsOf(usage) }),
    });
  }

  /** A chunk with an empty delta: clients that don't know its extra members ignore it. */
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
const SHOWN_CODES = ['upstream_timeout', 'upstream_unavailable', 'service_unavailable'] as const;

function failureEvent({ code, type }: NonNullable<ChatChunk['error']> = {}): Buffer {
  const refused = type === errorEntry('invalid_request').type ? 'invalid_request' : 'upstream_error';
  const known = SHOWN_CODES.find((one) => one === code) ?? refused;
  return Buffer.from(`data: ${JSON.stringify(errorBody(known, { message: errorEntry(known).message }))}\n\n`);
}
