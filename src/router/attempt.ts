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

/** How one call to one node ended. */
export type AttemptEnd =
  /** The answer is whole. */
  | { kind: 'ok' }
  | { kind: 'client_gone' }
  /** The node rejected the caller's request before a byte was sent. */
  | Extract<FailureVerdict, { kind: 'refused' }>
  /**
   * It failed before a byte was sent, so the caller can still get any response. `certain`: no request can have caused
   * it. `own`: this process lacks what a connection takes, so it says nothing of the node.
   */
  | Extract<FailureVerdict, { kind: 'failed' }>
  /** It failed after bytes had left; the answer has been cut. */
  | { kind: 'broken'; reason: string; cause?: string | undefined }
  /** It exceeded the size limit after bytes were sent; the answer has been cut off. */
  | { kind: 'too_large' };

/** An error instead of an answer; nothing was sent yet. */
class ErrorAnswer extends Error {
  constructor(readonly verdict: FailureVerdict) {
    super('the node answered with an error');
  }
}

/** Only an error may come whole. The edge would take anything else for garbage, when no other node can be tried. */
const noStream = (): MalformedResponseError =>
  new MalformedResponseError('a whole answer where a stream was asked for');

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
 * One call to one node, from the request's last byte to the answer's: takes the answer and writes it to the caller.
 * Nothing leaves before it is known to be an answer.
 */
export class Attempt implements UpstreamHandler {
  /** Whether anything but comments came with what it took last. */
  movedOn = true;
  /** Never rejects. */
  readonly ended: Promise<AttemptEnd>;
  readonly #end: (end: AttemptEnd) => void;
  #connection: CallHandle | undefined;
  #over = false;
  #status = 0;
  #retryAfter: string | undefined;
  /** An unstreamed answer, as far as it has arrived; none for a stream. */
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** What it takes of the memory for large answers, once it is one. */
  #share: AnswerShare | undefined;
  #stream: SseModelNameRewriter | undefined;
  /** What leaves of a stream next. */
  #pieces: Buffer[] = [];
  /** Why the stream that the caller gets is invalid, although it continues. */
  #spoilt: string | undefined;

  constructor(
    private readonly deployment: Deployment,
    private readonly asked: ProxyRequest,
    readonly timeouts: CallTimeouts,
    private readonly caller: RouterSink,
    /** Called whenever some of the answer leaves: the node is at work, and from the first on there is no other try. */
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

  /** Nodes name no calls in their answers: what one sends too much must not reach another account. */
  get accountId(): string {
    return this.asked.owner;
  }

  /** The caller left. */
  abandon(): void {
    this.#finish(this.#spoilt ? { kind: 'broken', reason: this.#spoilt } : { kind: 'client_gone' });
  }

  /** The caller takes bytes again. */
  resume(): void {
    this.#connection?.resume(this);
  }

  start(client: UpstreamClient, path: string, headers: Readonly<Record<string, string>>, body: Buffer): void {
    this.#connection = client.post(path, headers, body, this).send();
  }

  onHead({ status, contentType, retryAfter }: ResponseHead): void {
    this.#status = status;
    this.#retryAfter = retryAfter;
    if (status > 299) return;
    const type = mediaType(contentType);
    if (isJson(type)) return;
    if (this.asked.stream && type === 'text/event-stream') {
      const { group } = this.deployment;
      this.#stream = new SseModelNameRewriter(
        group,
        (payload) => this.#errorEvent(payload),
        this.asked.answers,
      );
      this.movedOn = false;
    } else this.#fail(new MalformedResponseError('an answer of another content type'));
  }

  onData(chunk: Buffer): void {
    if (this.#stream) {
      this.movedOn = this.#stream.push(chunk, this.#pieces);
      if (this.#stream.complete && !this.caller.begun) this.#refuseEmpty(this.#stream);
      this.#send();
      return;
    }
    this.#bytes += chunk.length;
    if (this.#status > 299 && this.#bytes > MAX_ERROR_BYTES) this.#fail(this.#error(''));
    else if (this.#bytes > MAX_ANSWER_BYTES) this.#fail(new AnswerTooLargeError('more than 64 MiB'));
    else {
      this.#chunks.push(chunk);
      if (this.#bytes > SMALL_ANSWER_BYTES) this.#keep();
    }
  }

  onEnd(): void {
    if (this.#stream) this.#endStream(this.#stream);
    else this.#endWhole();
  }

  onError(error: Error): void {
    // An error that breaks off has already shown whose fault it is.
    this.#fail(this.#status > 299 ? this.#error('') : error);
  }

  /** Counts a large answer. While there is no room for more of it, its node is held back. */
  #keep(): void {
    this.#share ??= this.memory.enter(this.accountId, () => this.#connection?.resume(this));
    if (!this.#share.grow(this.#bytes)) this.#connection?.pause(this);
  }

  #endWhole(): void {
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#bytes);
    this.#chunks = [];
    if (this.#status > 299) {
      this.#fail(this.#error(body.toString('utf8')));
      return;
    }
    const { path, answers } = this.asked;
    const asked = { body, model: this.deployment.group, path, answers };
    const read = this.json.read(this.accountId, REWRITE_MODEL_NAME, asked);
    if (read instanceof Promise)
      read.then((answer) => this.#answer(answer)).catch((error) => this.#fail(error));
    else this.#answer(read);
  }

  #answer(answer: RenamedAnswer): void {
    if (this.#over) return;
    if (answer.kind === 'garbage') throw new MalformedResponseError('not a JSON object');
    if (answer.kind === 'error') throw new ErrorAnswer(judgePayload(answer.body, this.deployment, this.mask));
    if (this.asked.stream) throw noStream();
    this.caller.answer(200, answer.body);
    this.#finish({ kind: 'ok' });
  }

  /** The status decides whose fault the error is. A text that is too long or cut off is dropped. */
  #error(text: string): ErrorAnswer {
    return new ErrorAnswer(judgeStatus(this.#status, text, this.#retryAfter, this.deployment, this.mask));
  }

  #endStream(stream: SseModelNameRewriter): void {
    this.movedOn = stream.end(this.#pieces);
    if (!this.caller.begun) this.#refuseEmpty(stream);
    this.#send();
    if (!this.caller.begun) throw new MalformedResponseError('an empty stream');
    this.caller.endStream();
    const reason = this.#spoilt ?? (stream.complete ? undefined : 'stream_cut');
    this.#finish(reason === undefined ? { kind: 'ok' } : { kind: 'broken', reason });
  }

  /** Lets another node try if nothing but `[DONE]` came. */
  #refuseEmpty(stream: SseModelNameRewriter): void {
    if (stream.complete && !stream.answered && this.#spoilt === undefined)
      throw new MalformedResponseError('an empty stream');
  }

  /** The head is sent with the first byte, so that a node that fails earlier still gets the right status. */
  #send(): void {
    const pieces = this.#pieces;
    if (pieces.length === 0) return;
    this.#pieces = [];
    if (this.movedOn) this.onLeaving();
    if (!this.caller.send(pieces)) this.#connection?.pause(this);
  }

  /**
   * An error in a stream: as its first event, it is handled like any other error; a later one is forwarded in our
   * words.
   */
  #errorEvent(payload: Buffer): Buffer {
    const verdict = judgePayload(payload, this.deployment, this.mask);
    if (!this.caller.begun && this.#pieces.length === 0) throw new ErrorAnswer(verdict);
    if (verdict.kind === 'failed') this.#spoilt = verdict.reason;
    const told = verdict.kind === 'failed' ? bodyOf(verdict.error) : verdict.body;
    return Buffer.from(JSON.stringify(told));
  }

  #fail(failure: unknown): void {
    if (this.#over) return;
    if (this.caller.begun) {
      // A clean end would say that the answer is whole.
      this.caller.cut();
      const large = this.#spoilt === undefined && failure instanceof AnswerTooLargeError;
      const { reason, cause } = judgeFailure(failure);
      const broken = this.#spoilt === undefined ? { reason, cause } : { reason: this.#spoilt };
      this.#finish(large ? { kind: 'too_large' } : { kind: 'broken', ...broken });
      return;
    }
    this.#finish(verdictOn(failure));
  }

  #finish(end: AttemptEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#chunks = [];
    this.#connection?.abort(this);
    const share = this.#share;
    if (share && end.kind === 'ok') this.caller.onOver(() => share.release());
    else share?.release();
    this.#end(end);
  }
}
