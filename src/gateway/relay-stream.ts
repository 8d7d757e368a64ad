import type { ServerResponse } from 'node:http';
import { SseSplitter } from '../upstream/sse-splitter.js';
import { estimateTokens, readUsage } from '../upstream/usage.js';
import { errorEvent } from './answer.js';
import { type Call, CLIENT_LEFT, type Success } from './call.js';
import { ChunkCheck } from './chunk-check.js';
import { LateUsage } from './late-usage.js';
import type { RelayAnswer, RelayContext } from './relay-answer.js';
import { mapErrorChunk, type UpstreamFailure } from './upstream-failure.js';

const DONE_EVENT = Buffer.from('data: [DONE]\n\n');
const LEFT_EARLY = { clientAborted: true, countMissed: true };

/** A stream of server-sent events: checked chunks pass as they come, usage is read on the side. */
export class StreamAnswer implements RelayAnswer {
  readonly #splitter = new SseSplitter();
  /** Adjacent events that go out in one write. */
  #run: Buffer | undefined;
  #started = false;
  #over = false;
  readonly #check: ChunkCheck;
  /** Chunks that brought something generated. */
  #deltas = 0;
  /** Those among them without a text. */
  #textless = 0;
  /** Bytes of generated text. */
  #textBytes = 0;
  #usage: unknown;
  /** Whether no text followed the last usage. */
  #usageIsLast = false;
  /** Whether this answer's chunked framing is ours to write. */
  #framing = false;
  /** Set once the client has left behind a finish reason: nothing is sent, only read. */
  #late: LateUsage | undefined;

  constructor(
    private readonly context: RelayContext,
    private readonly response: ServerResponse,
    private readonly call: Call,
  ) {
    this.#check = new ChunkCheck(context, call.input.body);
  }

  data(chunk: Buffer): boolean {
    if (this.#over) return true;
    try {
      this.#splitter.push(chunk, (event) => this.#take(event));
    } catch {
      this.context.fail({ code: 'upstream_error', options: {} });
      return true;
    }
    this.#late?.read(chunk.length);
    this.#flush();
    // Behind the last event comes only the end, which must not wait for a reader who may never take it.
    return this.#over || !this.#full();
  }

  end(): void {
    // Without [DONE] the upstream broke off, however cleanly it closed.
    if (!this.#over) this.context.fail({ code: 'upstream_error', options: {} });
  }

  fail(failure: UpstreamFailure): boolean {
    if (this.#late) {
      this.#late.end();
      return true;
    }
    // What came before the failure in the same read leaves before it.
    this.#flush();
    if (!this.#started) return false;
    this.#over = true;
    this.call.fail({ code: failure.code, httpStatus: 200 }, () =>
      this.#end(errorEvent(failure.code, failure.options)),
    );
    return true;
  }

  clientGone(over: () => void): void {
    this.#run = undefined;
    if (this.#check.finished && !this.#isCounted()) {
      this.#late = new LateUsage(() => {
        if (!this.#over) this.#leave();
        over();
      });
      return;
    }
    this.#leave();
    over();
  }

  /** Settles the call of a client that has left. */
  #leave(): void {
    this.#over = true;
    const isFree = this.#deltas === 0 && !(this.#check.finished && this.#isCounted());
    if (isFree) this.call.fail(CLIENT_LEFT, () => undefined);
    else this.call.succeed({ ...this.#success(this.#isCounted()), ...LEFT_EARLY }, () => undefined);
  }

  #take(event: Buffer): void {
    if (this.#over) return;
    switch (this.#check.read(event)) {
      case 'chunk':
      case 'comment':
        this.#count();
        this.#send(this.#check.out);
        return;
      case 'nothing':
        this.#count();
        return;
      case 'done':
        this.#complete();
        return;
      case 'error':
        this.#break(mapErrorChunk(this.#check.error));
        return;
      case 'garbage':
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
      this.#deltas++;
      this.#textBytes += textBytes;
      this.#usageIsLast = false;
      this.call.firstToken();
    } else if (this.#check.textless && usage === undefined) this.#countTextless();
    if (usage === undefined) return;
    this.#usage = usage;
    this.#usageIsLast = true;
  }

  /** A chunk without text stands for a token that nodes generate and don't show; each choice opens with one that doesn't. */
  #countTextless(): void {
    if (++this.#textless > this.call.input.body.choices) this.#deltas++;
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

  /** Whether the usage counts all that came, though the stream has not ended. A count below that of deltas is none. */
  #isCounted(): boolean {
    const told = readUsage(this.#usage, 'chat')?.outputTokens ?? -1;
    return this.#usageIsLast && told >= this.#deltas;
  }

  /** What to charge; `isCounted`: all of it by the usage. */
  #success(isCounted: boolean): Success {
    const generated = Math.max(this.#deltas, estimateTokens(this.#textBytes));
    return {
      usage: this.#usage,
      estimateOutput: () => generated,
      leastOutput: isCounted ? 0 : generated,
      servedModel: this.#check.servedModel ?? this.call.input.body.model,
    };
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    const headers = this.context.headers();
    headers.push('content-type', 'text/event-stream; charset=utf-8', 'x-accel-buffering', 'no');
    this.response.writeHead(200, headers);
    // Node writes a chunk in four parts. Framed here it leaves in one: 31.0 µs for 33.3 (docs/decisions/0113). To HTTP/1.0
    // nothing is chunked.
    this.#framing = this.response.chunkedEncoding;
    this.response.chunkedEncoding = false;
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
    this.#write(this.#framing ? framed(this.#run, CHUNK_END) : [this.#run]);
    this.#run = undefined;
  }

  /** Whether the client has not taken what was written. */
  #full(): boolean {
    return !this.#late && this.response.writableNeedDrain;
  }

  /** In one piece: the first token leaves with the head. */
  #write(parts: (Buffer | string)[]): void {
    const { response } = this;
    response.cork();
    for (const part of parts) response.write(part, 'latin1');
    response.uncork();
  }

  #end(event: Buffer): void {
    const parts = this.#framing ? framed(event, LAST_CHUNK) : [event];
    for (const part of parts.slice(0, -1)) this.response.write(part, 'latin1');
    this.response.end(parts.at(-1), 'latin1');
    this.context.sent();
  }
}

const CHUNK_END = '\r\n';
/** The end of a chunk, and the empty one that ends the body. */
const LAST_CHUNK = '\r\n0\r\n\r\n';

/** Above this a copy costs more, in time and in memory of slow readers, than leaving in three parts. */
const COPIED_BYTES = 4096;

/** A chunk of HTTP/1.1's chunked coding, in one piece where it is small. */
function framed(bytes: Buffer, end: string): (Buffer | string)[] {
  const head = `${bytes.length.toString(16)}\r\n`;
  if (bytes.length > COPIED_BYTES) return [head, bytes, end];
  const frame = Buffer.allocUnsafe(head.length + bytes.length + end.length);
  frame.write(head, 0, 'latin1');
  frame.set(bytes, head.length);
  frame.write(end, head.length + bytes.length, 'latin1');
  return [frame];
}
