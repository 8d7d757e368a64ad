import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { CallInput } from '../inference/call.js';
import type { ResponseSink } from '../inference/relay/response-sink.js';
import type { UpstreamFailure } from '../inference/relay/upstream-failure.js';
import { type AnswerHeaders, answerError, answerJson, v1Headers } from './answer.js';
import type { MinimumRate } from './minimum-rate.js';

export interface ReaderBounds {
  /** Milliseconds after which a reader that takes nothing is cut (requirement F23). */
  stalledReaderMs: number;
  /** Finds clients that read a large answer too slowly. */
  minimumReadRate: MinimumRate;
}

/** Bytes of a connection that the operating system has taken, which is about what the client has read. */
class DeliveredBytes {
  constructor(private readonly socket: Socket) {}

  get bodyBytes(): number {
    const handle = (this.socket as { _handle?: { bytesWritten: number; writeQueueSize: number } })._handle;
    return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
  }
}

/** Sends the answer of a call to its HTTP client. */
export class V1Sink implements ResponseSink {
  /** Whether this class writes the chunked framing of a stream, in place of Node. */
  #framing = false;
  #unwatch: (() => void) | undefined;
  #stalled: NodeJS.Timeout | undefined;

  constructor(
    private readonly response: ServerResponse,
    private readonly input: CallInput,
    private readonly bounds: ReaderBounds,
    /** Replaces the headers of `/v1`. */
    private readonly ownHeaders?: () => AnswerHeaders,
  ) {}

  get gone(): boolean {
    return this.response.destroyed;
  }

  get full(): boolean {
    return this.response.writableNeedDrain;
  }

  onClose(listener: () => void): void {
    this.response.on('close', () => {
      clearTimeout(this.#stalled);
      this.#unwatch?.();
      listener();
    });
  }

  onDrain(listener: () => void): void {
    this.response.on('drain', () => {
      clearTimeout(this.#stalled);
      listener();
    });
  }

  answer(body: Buffer): void {
    answerJson(this.response, 200, this.#headers(), body);
  }

  refuse({ code, options }: UpstreamFailure): void {
    answerError(this.response, code, options, this.#headers());
  }

  startStream(): void {
    const headers = this.#headers();
    headers.push('content-type', 'text/event-stream; charset=utf-8', 'x-accel-buffering', 'no');
    this.response.writeHead(200, headers);
    // Node writes a chunk in four parts. Framed here it leaves in one: 31.0 µs instead of 33.3 (docs/decisions/0113). HTTP/1.0 has no
    // chunks.
    this.#framing = this.response.chunkedEncoding;
    this.response.chunkedEncoding = false;
  }

  send(events: Buffer): void {
    this.#write(this.#framing ? framed(events, CHUNK_END) : [events]);
  }

  endStream(event: Buffer): void {
    const parts = this.#framing ? framed(event, LAST_CHUNK) : [event];
    for (const part of parts.slice(0, -1)) this.response.write(part, 'latin1');
    this.response.end(parts.at(-1), 'latin1');
  }

  awaitReader(): void {
    const { response } = this;
    if (response.socket) this.#awaitReader();
    // The client can't read this answer while an earlier one on its connection is being sent, and that one is watched.
    else if (response.listenerCount('socket', this.#awaitReader) === 0)
      response.once('socket', this.#awaitReader);
  }

  watchReading(due: () => number): void {
    const { socket } = this.response.req;
    // A large answer that waits behind an earlier one on its connection is watched too.
    this.#unwatch = this.bounds.minimumReadRate.watch(
      new DeliveredBytes(socket),
      () => socket.destroy(),
      due,
    );
  }

  cut(): void {
    this.response.destroy();
  }

  readonly #awaitReader = (): void => {
    clearTimeout(this.#stalled);
    this.#stalled = setTimeout(() => this.cut(), this.bounds.stalledReaderMs);
    this.#stalled.unref();
  };

  #headers(): AnswerHeaders {
    if (this.ownHeaders) return this.ownHeaders();
    const { id, admission, body } = this.input;
    const headers = v1Headers(this.response, id, admission.rate);
    if (body.dropped !== undefined) headers.push('x-gateway-dropped-fields', body.dropped);
    return headers;
  }

  /** Writes all parts at once, so that the first token leaves with the headers. */
  #write(parts: (Buffer | string)[]): void {
    const { response } = this;
    response.cork();
    for (const part of parts) response.write(part, 'latin1');
    response.uncork();
  }
}

const CHUNK_END = '\r\n';
/** The end of a chunk, followed by the empty chunk that ends the body. */
const LAST_CHUNK = '\r\n0\r\n\r\n';

/** Above this size a copy costs more, in time and in memory of slow readers, than writing three parts. */
const MAX_COPIED_BYTES = 4096;

/** Frames bytes as an HTTP/1.1 chunk, in one piece if they are few. */
function framed(bytes: Buffer, end: string): (Buffer | string)[] {
  const head = `${bytes.length.toString(16)}\r\n`;
  if (bytes.length > MAX_COPIED_BYTES) return [head, bytes, end];
  const frame = Buffer.allocUnsafe(head.length + bytes.length + end.length);
  frame.write(head, 0, 'latin1');
  frame.set(bytes, head.length);
  frame.write(end, head.length + bytes.length, 'latin1');
  return [frame];
}
