import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { memberValue, replaceValue, scanMembers } from '../lib/json-scan.js';
import { eventData, SseSplitter } from '../upstream/sse-splitter.js';
import { isUsageOnly } from '../upstream/usage.js';
import { errorEvent } from './answer.js';
import type { Call } from './call.js';
import type { RelayAnswer, RelayContext } from './relay.js';
import { mapErrorChunk, type UpstreamFailure } from './upstream-failure.js';

const DONE = Buffer.from('[DONE]');
const ERROR_KEY = '"error"';
const USAGE_KEY = '"usage"';
/** A delta that carries something generated; the opening chunk with role and empty content does not. */
const TOKEN = /"(?:content|reasoning_content|reasoning|refusal|arguments|name|text)"\s*:\s*"[^"]/;
const USAGE_NULL = /"usage"\s*:\s*null/;

interface ChunkFields {
  error?: unknown;
  usage?: unknown;
  choices?: unknown;
}

/** A stream of server-sent events: bytes pass as they come, usage is read on the side. */
export class StreamAnswer implements RelayAnswer {
  readonly #splitter = new SseSplitter();
  /** Adjacent events that go out in one write. */
  #run: Buffer | undefined;
  #started = false;
  #over = false;
  #deltas = 0;
  #usage: unknown;
  #servedModel: string | undefined;
  #restamping = false;
  /** Whether this answer's chunked framing is ours to write. */
  #framing = false;
  #headLeft = false;
  #awaitingDrain = false;

  constructor(
    private readonly context: RelayContext,
    private readonly response: ServerResponse,
    private readonly call: Call,
  ) {}

  data(chunk: Buffer): boolean {
    if (this.#over) return true;
    try {
      this.#splitter.push(chunk, (event) => this.#take(event));
    } catch {
      this.context.fail({ code: 'upstream_error', options: {} });
      return true;
    }
    this.#flush();
    // Behind the last event comes only the end, which must not wait for a reader who may never take it.
    return this.#over || !this.#full();
  }

  end(): void {
    // Without [DONE] the upstream broke off, however cleanly it closed.
    if (!this.#over) this.context.fail({ code: 'upstream_error', options: {} });
  }

  fail(failure: UpstreamFailure): boolean {
    // What came before the failure in the same read leaves before it.
    this.#flush();
    if (!this.#started) return false;
    this.#over = true;
    this.call.fail({ code: failure.code, httpStatus: 200 }, () =>
      this.#end(errorEvent(failure.code, failure.options)),
    );
    return true;
  }

  clientGone(): void {
    this.#over = true;
    if (this.#deltas === 0) {
      this.call.fail(
        { code: 'client_closed_request', httpStatus: 499, clientAborted: true },
        () => undefined,
      );
      return;
    }
    this.call.succeed(
      {
        usage: this.#usage,
        estimateOutput: () => this.#deltas,
        servedModel: this.#served(),
        clientAborted: true,
      },
      () => undefined,
    );
  }

  #take(event: Buffer): void {
    if (this.#over) return;
    const data = eventData(event);
    if (data?.equals(DONE)) this.#complete(event);
    else if (!data) this.#send(event);
    else this.#takeChunk(event, data);
  }

  #takeChunk(event: Buffer, data: Buffer): void {
    if (this.#servedModel === undefined) this.#readModel(data);
    const text = data.toString('latin1');
    const mayFail = text.includes(ERROR_KEY);
    const mayCount = text.includes(USAGE_KEY) && !USAGE_NULL.test(text);
    if (mayFail || mayCount) {
      const fields = parse(data);
      if (fields?.error) {
        this.context.fail(mapErrorChunk(data));
        return;
      }
      if (fields?.usage) {
        this.#usage = fields.usage;
        if (!this.call.input.body.usageAsked && isUsageOnly(fields.choices)) return;
      }
    }
    if (TOKEN.test(text)) {
      this.#deltas++;
      this.call.firstToken();
    }
    this.#send(this.#restamping ? this.#restamp(event, data) : event);
  }

  #complete(event: Buffer): void {
    this.#over = true;
    this.#start();
    this.#flush();
    this.call.succeed(
      { usage: this.#usage, estimateOutput: () => this.#deltas, servedModel: this.#served() },
      (error) => this.#end(error ? errorEvent('service_unavailable') : event),
    );
  }

  #readModel(data: Buffer): void {
    try {
      const member = scanMembers(data, 512).find(({ key }) => key === 'model');
      const name = member ? memberValue(data, member) : undefined;
      if (typeof name !== 'string') return;
      this.#servedModel = this.context.servedModel(name);
      this.#restamping = this.#servedModel !== name;
    } catch {
      // Not JSON: it passes as it is, and the model asked for counts as the one that served.
    }
  }

  /** The event with the public name in its payload; its other lines and its line ends stay as they came. */
  #restamp(event: Buffer, data: Buffer): Buffer {
    let stamped: Buffer;
    try {
      const member = scanMembers(data, 512).find(({ key }) => key === 'model');
      if (!member) return event;
      stamped = replaceValue(data, member, this.#served());
    } catch {
      return event;
    }
    // A payload over several lines was joined into a buffer of its own: it goes out as one line.
    if (data.buffer !== event.buffer)
      return Buffer.concat([Buffer.from('data: '), stamped, Buffer.from('\n\n')]);
    const start = data.byteOffset - event.byteOffset;
    return Buffer.concat([event.subarray(0, start), stamped, event.subarray(start + data.length)]);
  }

  #served(): string {
    return this.#servedModel ?? this.call.input.body.model;
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    const headers = this.context.headers();
    headers.push('content-type', 'text/event-stream; charset=utf-8', 'x-accel-buffering', 'no');
    this.response.writeHead(200, headers);
    // Node writes a chunk in four parts; framed here it leaves in one. To HTTP/1.0 nothing is chunked.
    this.#framing = this.response.chunkedEncoding;
    this.response.chunkedEncoding = false;
  }

  #send(event: Buffer): void {
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
    if (this.#framing) this.#write(framed(this.#run, CHUNK_END));
    else this.response.write(this.#run);
    this.#run = undefined;
  }

  /** Whether the client has not taken what was written: asked anew each time, since it may have changed without a write. */
  #full(): boolean {
    const { socket } = this.response;
    return socket ? socket.writableNeedDrain : this.response.writableNeedDrain;
  }

  /** The head leaves through the response; behind it the socket takes chunks without a detour through the next tick. */
  #write(parts: (Buffer | string)[]): void {
    const { socket } = this.response;
    // No socket: an earlier request of this connection is still being answered.
    const direct = this.#headLeft && socket && !this.response.writableNeedDrain;
    const target: Writable = direct ? socket : this.response;
    const first = !this.#headLeft;
    this.#headLeft = true;
    // Node joins a head with a text, and sends it beside a buffer: the first token leaves with the head.
    if (first && parts.length === 1) parts = [parts[0]!.toString('latin1')];
    if (parts.length > 1) target.cork();
    for (const part of parts) target.write(part, 'latin1');
    if (parts.length > 1) target.uncork();
    if (!direct || !socket.writableNeedDrain || this.#awaitingDrain) return;
    // Once a filling: a second listener would let the upstream go on when the first has just filled the socket again.
    this.#awaitingDrain = true;
    socket.once('drain', () => {
      this.#awaitingDrain = false;
      this.response.emit('drain');
    });
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

function parse(data: Buffer): ChunkFields | undefined {
  try {
    return JSON.parse(data.toString()) as ChunkFields;
  } catch {
    return undefined;
  }
}
