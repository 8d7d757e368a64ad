import { type ErrorCode, type ErrorOptions, errorBody } from '../../errors.js';
import { COMMENT_EVENT } from '../../lib/upstream/sse-event.js';
import { SseSplitter, type WholeEventSink } from '../../lib/upstream/sse-splitter.js';
import { type Call, type CallSuccess, CLIENT_LEFT } from '../call.js';
import { estimateTokens, readUsage } from '../usage/usage.js';
import { ChunkCheck, type EventKind } from './chunk-check.js';
import { LateUsage } from './late-usage.js';
import type { RelayAnswer, RelayContext, SilenceBounds } from './relay-answer.js';
import type { ResponseSink } from './response-sink.js';
import { failureStatus, mapErrorChunk, type UpstreamFailure } from './upstream-failure.js';

const EVENT_END = Buffer.from('\n\n');
const DONE_EVENT = Buffer.from('data: [DONE]\n\n');
/** Chunks between two checks for a stream without end. */
const CHECK_EVERY = 256;
const LEFT_EARLY = { clientAborted: true, countMissed: true };

/** A stream of server-sent events: chunks are checked and sent as they come, and their usage is read along the way. */
export class StreamAnswer implements RelayAnswer, WholeEventSink {
  movedOn = false;
  readonly #splitter = new SseSplitter();
  /** Adjacent events, to be sent in one write. */
  #run: Buffer | undefined;
  /** Whether the headers have been sent, with the first chunk or with a comment before it. */
  #started = false;
  /** Whether a chunk has come. */
  #begun = false;
  #over = false;
  /** Whether something was sent since the last `look`. True at first, since the call begins within an interval. */
  #isBusy = true;
  /** How long nothing was sent, in whole intervals between two looks, so that a stalled process adds no silence. */
  #silentMs = 0;
  readonly #check: ChunkCheck;
  /** Chunks with generated output. */
  #deltas = 0;
  /** Chunks among them without text. */
  #textless = 0;
  /** Bytes of generated text. */
  #textBytes = 0;
  #usage: unknown;
  /** Whether no text followed the last usage. */
  #usageIsLast = false;
  /** Set if the client left after a finish reason: the stream is read on for its usage, and nothing is sent. */
  #late: LateUsage | undefined;

  constructor(
    private readonly context: RelayContext,
    private readonly sink: ResponseSink,
    private readonly call: Call,
  ) {
    const { admission, body } = call.input;
    this.#check = new ChunkCheck(context, {
      model: admission.model.publicName,
      usageAsked: body.usageAsked,
      choices: body.choices,
    });
  }

  data(chunk: Buffer): boolean {
    if (this.#over) return true;
    this.movedOn = false;
    try {
      this.#splitter.push(chunk, this.#take, this);
    } catch {
      this.context.fail({ code: 'upstream_error', options: {} });
      return true;
    }
    this.#late?.read(chunk.length);
    this.#flush();
    // After the last event only the end follows, which must not wait for a reader that may never read.
    return this.#over || !this.#full();
  }

  takeWhole(bytes: Buffer): boolean {
    if (!this.#check.readAlike(bytes)) return false;
    this.#taken('chunk');
    return true;
  }

  end(): void {
    if (this.#over) return;
    const { rest } = this.#splitter;
    // The last event may lack its empty line.
    if (rest) this.#take(Buffer.concat([rest, EVENT_END]));
    if (this.#over) return;
    // Without a finish reason the answer was cut off, even if the connection closed cleanly.
    if (this.#check.finished.all) this.#complete();
    else this.context.fail({ code: 'upstream_error', options: {} });
  }

  look(elapsedMs: number, { firstCommentMs, nextCommentMs }: SilenceBounds): void {
    this.#silentMs = this.#isBusy ? 0 : this.#silentMs + elapsedMs;
    this.#isBusy = false;
    // A client that hasn't read what was sent isn't waiting.
    if (this.#silentMs < (this.#started ? nextCommentMs : firstCommentMs) || this.sink.full) return;
    this.#silentMs = 0;
    this.#start();
    this.sink.send(COMMENT_EVENT);
  }

  fail(failure: UpstreamFailure): boolean {
    if (this.#late) {
      this.#late.end();
      return true;
    }
    // Events that came before the failure are sent before the error.
    this.#flush();
    if (!this.#started) return false;
    this.#over = true;
    const { code, options } = failure;
    // If only comments were sent, the failure is recorded with the status that its own response would have had.
    const httpStatus = this.#begun ? 200 : failureStatus(failure);
    this.call.fail({ code, httpStatus, message: options.message }, () =>
      this.#end(errorEvent(code, options)),
    );
    return true;
  }

  clientGone(over: () => void): void {
    this.#run = undefined;
    if (this.#check.finished.any && !this.#isCounted()) {
      this.#late = new LateUsage(() => {
        if (!this.#over) this.#leave();
        over();
      });
      return;
    }
    this.#leave();
    over();
  }

  /** Settles the call of a client that has left: free if no token has come or been reported. */
  #leave(): void {
    this.#over = true;
    const isCounted = this.#isCounted();
    const isFree =
      this.#deltas === 0 && this.#reportedTokens() <= 0 && !(this.#check.finished.any && isCounted);
    if (isFree) this.call.fail(CLIENT_LEFT, () => undefined);
    else this.call.succeed({ ...this.#success(isCounted), ...LEFT_EARLY }, () => undefined);
  }

  readonly #take = (event: Buffer): void => {
    if (!this.#over) this.#taken(this.#check.read(event));
  };

  #taken(kind: EventKind): void {
    if (kind === 'chunk' || this.#check.usage !== undefined) this.movedOn = true;
    if (kind === 'chunk') this.#begun = this.call.input.admission.isAnswering = true;
    switch (kind) {
      case 'chunk':
      case 'comment':
        this.#count();
        if (!this.#over) this.#send(this.#check.out);
        return;
      case 'nothing':
        this.#count();
        return;
      case 'done':
        if (this.#check.answered) this.#complete();
        else this.#break({ code: 'upstream_error', options: {} });
        return;
      case 'error':
        this.#break(mapErrorChunk(this.#check.error, this.context.mask));
        return;
      case 'malformed':
        this.#break({ code: 'upstream_error', options: {} });
    }
  }

  /** Fails the call; later events of the same read are ignored. */
  #break(failure: UpstreamFailure): void {
    this.context.fail(failure);
    this.#over = true;
  }

  #count(): void {
    const { textBytes, usage } = this.#check;
    if (textBytes > 0) {
      this.#countDelta();
      this.#textBytes += textBytes;
      this.#usageIsLast = false;
      this.call.noteToken();
    } else if (this.#check.textless && usage === undefined) this.#countTextless();
    if (usage === undefined) return;
    this.#usage = usage;
    this.#usageIsLast = true;
  }

  /** A chunk without text counts as a token that the node generated and doesn't show, except the first chunk of each choice. */
  #countTextless(): void {
    if (++this.#textless > this.call.input.body.choices) this.#countDelta();
  }

  #countDelta(): void {
    if (++this.#deltas % CHECK_EVERY !== 0) return;
    if (this.call.isEndless(this.#check.servedModel ?? '', this.#deltas))
      this.#break({ code: 'upstream_error', options: {} });
  }

  #complete(): void {
    this.#over = true;
    if (this.#late) {
      this.call.succeed({ ...this.#success(this.#usageIsLast), clientAborted: true }, () => undefined);
      this.#late.end();
      return;
    }
    this.#start();
    this.#flush();
    this.call.succeed(this.#success(this.#usageIsLast), (error) =>
      this.#end(error ? errorEvent('service_unavailable') : DONE_EVENT),
    );
  }

  /** Whether the usage covers all that came, although the stream hasn't ended. A count below the number of deltas doesn't. */
  #isCounted(): boolean {
    return this.#usageIsLast && this.#reportedTokens() >= this.#deltas;
  }

  /** Generated tokens as last reported; -1 without a valid report. */
  #reportedTokens(): number {
    return readUsage(this.#usage, 'chat')?.outputTokens ?? -1;
  }

  /** What to charge. `isCounted`: the usage covers all that came. */
  #success(isCounted: boolean): CallSuccess {
    const generated = Math.max(this.#deltas, estimateTokens(this.#textBytes));
    return {
      usage: this.#usage,
      estimateOutput: () => generated,
      leastOutput: isCounted ? 0 : generated,
      servedModel: this.#check.servedModel ?? this.call.input.admission.model.publicName,
    };
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    this.sink.startStream();
  }

  #send(event: Buffer): void {
    if (this.#late) return;
    const run = this.#run;
    if (run && run.buffer === event.buffer && run.byteOffset + run.length === event.byteOffset) {
      this.#run = Buffer.from(event.buffer, run.byteOffset, run.length + event.length);
      return;
    }
    this.#flush();
    this.#run = event;
  }

  #flush(): void {
    if (!this.#run) return;
    this.#start();
    this.#isBusy = true;
    this.sink.send(this.#run);
    this.#run = undefined;
  }

  #full(): boolean {
    return this.#late === undefined && this.sink.full;
  }

  #end(event: Buffer): void {
    this.sink.endStream(event);
    this.context.sent();
  }
}

/** An error as an event of a stream that has begun. */
function errorEvent(code: ErrorCode, options: ErrorOptions = {}): Buffer {
  return Buffer.from(`data: ${JSON.stringify(errorBody(code, options))}\n\n`);
}
