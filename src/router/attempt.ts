import type { JsonReader } from '../lib/json-reader.js';
import type { MessageMask } from '../lib/message-mask.js';
import { AnswerTooLargeError, MAX_ANSWER_BYTES, MAX_ERROR_BYTES } from '../lib/upstream/answer-limits.js';
import type { UpstreamClient } from '../lib/upstream/client.js';
import type { ResponseHead } from '../lib/upstream/response-head.js';
import type { CallHandle } from '../lib/upstream/upstream.js';
import type { CallTimeouts, UpstreamHandler } from '../lib/upstream/upstream-handler.js';
import { type AnswerMemory, type AnswerShare, SMALL_ANSWER_BYTES } from './answer-memory.js';
import { bodyOf } from './answers.js';
import { type FailureVerdict, judgeFailure, judgePayload, judgeStatus, tooLarge } from './node-errors.js';
import type { ProxyRequest } from './request.js';
import {
  MalformedResponseError,
  REWRITE_MODEL_NAME,
  type RenamedAnswer,
  SseModelNameRewriter,
} from './rewrite-model-name.js';
import type { RouterSink } from './router-sink.js';
import type { Deployment } from './routing.js';
import { TokenCount } from './token-count.js';

/** How one call to one node ended. */
export type AttemptEnd =
  /** The whole answer was forwarded. */
  | { kind: 'ok' }
  | { kind: 'client_gone' }
  /** The node rejected the caller's request before a byte was forwarded. */
  | Extract<FailureVerdict, { kind: 'refused' }>
  /**
   * The attempt failed before a byte was forwarded, so the caller can still get any response. `certain`: no request can have
   * caused the failure. `own`: this process lacked resources for a connection; the node isn't to blame.
   */
  | Extract<FailureVerdict, { kind: 'failed' }>
  /** The attempt failed after bytes were forwarded; the answer has been cut off. */
  | { kind: 'broken'; reason: string; cause?: string | undefined }
  /** The answer exceeded the size limit after bytes were forwarded, and has been cut off. */
  | { kind: 'too_large' };

/** The node answered with an error; nothing has been forwarded yet. */
class ErrorAnswer extends Error {
  constructor(readonly verdict: FailureVerdict) {
    super('the node answered with an error');
  }
}

/**
 * A streamed request may get only an error as a whole answer. Passed on, anything else would be malformed for the edge, too late to
 * try another node.
 */
const wholeInsteadOfStream = (): MalformedResponseError =>
  new MalformedResponseError('a whole answer in place of a stream');

function verdictOn(failure: unknown): FailureVerdict {
  if (failure instanceof ErrorAnswer) return failure.verdict;
  return failure instanceof AnswerTooLargeError ? tooLarge : judgeFailure(failure);
}

const mediaType = (contentType: string): string => {
  const end = contentType.indexOf(';');
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
};

const isJson = (type: string): boolean =>
  type === 'application/json' || /^application\/[\w.-]+\+json$/.test(type);

/**
 * One call to one node: sends the request, and writes the node's answer to the sink. Nothing is forwarded before it is known to be
 * an answer rather than an error.
 */
export class Attempt implements UpstreamHandler {
  /** False while only comments, or nothing, followed the headers. */
  movedOn = true;
  /** Never rejects. */
  readonly ended: Promise<AttemptEnd>;
  readonly #end: (end: AttemptEnd) => void;
  #handle: CallHandle | undefined;
  #over = false;
  #tokens: TokenCount | undefined;
  #status = 0;
  #retryAfter: string | undefined;
  /** What has arrived of a whole answer; empty for a stream. */
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Set once the answer counts as large. */
  #share: AnswerShare | undefined;
  #stream: SseModelNameRewriter | undefined;
  /** Bytes of the stream to forward next. */
  #pieces: Buffer[] = [];
  /** Why the forwarded stream is invalid, although it continues: it contains an error. */
  #invalidReason: string | undefined;

  constructor(
    private readonly deployment: Deployment,
    private readonly request: ProxyRequest,
    readonly timeouts: CallTimeouts,
    private readonly sink: RouterSink,
    /** Called whenever part of the answer is forwarded. From the first call on, no other node can be tried. */
    private readonly onLeaving: () => void,
    private readonly json: JsonReader,
    private readonly memory: AnswerMemory,
    private readonly mask: MessageMask,
  ) {
    let end!: (end: AttemptEnd) => void;
    this.ended = new Promise((resolve) => {
      end = resolve;
    });
    this.#end = end;
  }

  /** Whose connections may be used: a node's answer names no call, and surplus bytes must not reach another account. */
  get accountId(): string {
    return this.request.owner;
  }

  /** Tokens of the call, if the deployment has a limit of them and has begun an answer. */
  get tokens(): number {
    const hasBegun = this.#status > 0 && this.#status < 300;
    return hasBegun ? (this.#tokens?.total(this.#stream?.events) ?? 0) : 0;
  }

  /** Called when the caller has left. */
  abandon(): void {
    this.#finish(
      this.#invalidReason ? { kind: 'broken', reason: this.#invalidReason } : { kind: 'client_gone' },
    );
  }

  /** Called when the sink accepts bytes again. */
  resume(): void {
    this.#handle?.resume(this);
  }

  start(client: UpstreamClient, path: string, headers: Readonly<Record<string, string>>, body: Buffer): void {
    if (this.deployment.limits.tokensPerMinute !== undefined) this.#tokens = new TokenCount(body);
    this.#handle = client.post(path, headers, body, this).send();
  }

  onHead({ status, contentType, retryAfter }: ResponseHead): void {
    this.#status = status;
    this.#retryAfter = retryAfter;
    if (status > 299) return;
    const type = mediaType(contentType);
    if (isJson(type)) return;
    if (this.request.stream && type === 'text/event-stream') {
      const { group } = this.deployment;
      this.#stream = new SseModelNameRewriter(
        group,
        (payload) => this.#errorEvent(payload),
        this.request.answers,
      );
      this.movedOn = false;
    } else this.#fail(new MalformedResponseError('an answer of another content type'));
  }

  onData(chunk: Buffer): void {
    if (this.#status < 300) this.#tokens?.push(chunk);
    if (this.#stream) {
      this.movedOn = this.#stream.push(chunk, this.#pieces);
      if (this.#stream.complete && !this.sink.begun) this.#refuseEmpty(this.#stream);
      this.#send();
      return;
    }
    this.#bytes += chunk.length;
    if (this.#status > 299 && this.#bytes > MAX_ERROR_BYTES) this.#fail(this.#error(''));
    else if (this.#bytes > MAX_ANSWER_BYTES) this.#fail(new AnswerTooLargeError('more than 64 MiB'));
    else {
      this.#chunks.push(chunk);
      if (this.#bytes > SMALL_ANSWER_BYTES) this.#reserveMemory();
    }
  }

  onEnd(): void {
    if (this.#stream) this.#endStream(this.#stream);
    else this.#endWhole();
  }

  onError(error: Error): void {
    // The status of an error response that breaks off already decides whose fault it is.
    this.#fail(this.#status > 299 ? this.#error('') : error);
  }

  /** Counts a large answer, and pauses its node while there is no room for more. */
  #reserveMemory(): void {
    this.#share ??= this.memory.enter(this.accountId, () => this.#handle?.resume(this));
    if (!this.#share.grow(this.#bytes)) this.#handle?.pause(this);
  }

  #endWhole(): void {
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#bytes);
    this.#chunks = [];
    if (this.#status > 299) {
      this.#fail(this.#error(body.toString('utf8')));
      return;
    }
    const { path, answers } = this.request;
    const job = { body, model: this.deployment.group, path, answers };
    const read = this.json.read(this.accountId, REWRITE_MODEL_NAME, job);
    if (read instanceof Promise)
      read.then((answer) => this.#answer(answer)).catch((error) => this.#fail(error));
    else this.#answer(read);
  }

  #answer(answer: RenamedAnswer): void {
    if (this.#over) return;
    if (answer.kind === 'malformed') throw new MalformedResponseError('not a JSON object');
    if (answer.kind === 'error') throw new ErrorAnswer(judgePayload(answer.body, this.deployment, this.mask));
    if (this.request.stream) throw wholeInsteadOfStream();
    this.sink.answer(200, answer.body);
    this.#finish({ kind: 'ok' });
  }

  /** Judges an error response by its status. Pass an empty text if the body is too long or cut off. */
  #error(text: string): ErrorAnswer {
    return new ErrorAnswer(judgeStatus(this.#status, text, this.#retryAfter, this.deployment, this.mask));
  }

  #endStream(stream: SseModelNameRewriter): void {
    this.movedOn = stream.end(this.#pieces);
    if (!this.sink.begun) this.#refuseEmpty(stream);
    this.#send();
    if (!this.sink.begun) throw new MalformedResponseError('an empty stream');
    this.sink.endStream();
    const reason = this.#invalidReason ?? (stream.complete ? undefined : 'stream_cut');
    this.#finish(reason === undefined ? { kind: 'ok' } : { kind: 'broken', reason });
  }

  /** Throws if nothing but `[DONE]` arrived, so that another node is tried. */
  #refuseEmpty(stream: SseModelNameRewriter): void {
    if (stream.complete && !stream.answered && this.#invalidReason === undefined)
      throw new MalformedResponseError('an empty stream');
  }

  /** Forwards the pending bytes. The headers leave with the first byte, so an earlier failure still gets its own status. */
  #send(): void {
    const pieces = this.#pieces;
    if (pieces.length === 0) return;
    this.#pieces = [];
    if (this.movedOn) this.onLeaving();
    if (!this.sink.send(pieces)) this.#handle?.pause(this);
  }

  /**
   * Handles an error event of a stream. As the first event, it fails the attempt like any other error; a later one is replaced by
   * our own error.
   */
  #errorEvent(payload: Buffer): Buffer {
    const verdict = judgePayload(payload, this.deployment, this.mask);
    if (!this.sink.begun && this.#pieces.length === 0) throw new ErrorAnswer(verdict);
    if (verdict.kind === 'failed') this.#invalidReason = verdict.reason;
    const shown = verdict.kind === 'failed' ? bodyOf(verdict.error) : verdict.body;
    return Buffer.from(JSON.stringify(shown));
  }

  #fail(failure: unknown): void {
    if (this.#over) return;
    if (this.sink.begun) {
      // A clean end would mean that the answer is whole.
      this.sink.cut();
      const large = this.#invalidReason === undefined && failure instanceof AnswerTooLargeError;
      const { reason, cause } = judgeFailure(failure);
      const broken = this.#invalidReason === undefined ? { reason, cause } : { reason: this.#invalidReason };
      this.#finish(large ? { kind: 'too_large' } : { kind: 'broken', ...broken });
      return;
    }
    this.#finish(verdictOn(failure));
  }

  #finish(end: AttemptEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#chunks = [];
    this.#handle?.abort(this);
    const share = this.#share;
    if (share && end.kind === 'ok') this.sink.onOver(() => share.release());
    else share?.release();
    this.#end(end);
  }
}
