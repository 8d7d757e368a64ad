import { ChunkedDecoder, LINE_END_BYTES } from './chunked.js';
import { type ParsedHead, parseHead, type ResponseHead, ResponseParseError } from './response-head.js';

/** Who is told what was read. */
export interface ResponseSink {
  onHead(head: ResponseHead): void;
  /** Bytes of the body, a copy that is the sink's to keep; once for each read of the socket. */
  onData(chunk: Buffer): void;
}

const MAX_HEAD_BYTES = 16 * 1024;
const HEAD_END = '\r\n\r\n';
const SWITCHING_PROTOCOLS = 101;
const NOTHING = Buffer.alloc(0);

/** Reads one answer of HTTP/1.1, however its bytes are cut. */
export class ResponseReader {
  /** Whether the answer is whole. */
  done = false;
  #head: ParsedHead | undefined;
  /** A head that isn't whole yet. */
  #pending = NOTHING;
  /** Bytes of the body that are still to come, where its length is known. */
  #left = 0;
  #chunked: ChunkedDecoder | undefined;
  #stopped = false;
  #polluted = false;

  /**
   * @param accepts Throws when the answer belongs to another call.
   */
  constructor(
    private readonly sink: ResponseSink,
    private readonly accepts?: (head: ResponseHead) => void,
  ) {}

  /** Milliseconds that the connection may rest for; 0: it can't serve another call. */
  get idleMs(): number {
    return this.done && this.#head && !this.#polluted ? this.#head.idleMs : 0;
  }

  /** Whether the answer's head has come. */
  get begun(): boolean {
    return this.#head !== undefined;
  }

  /** Nothing more is told. */
  stop(): void {
    this.#stopped = true;
  }

  /**
   * Takes what came next. `bytes` may be overwritten afterwards. Bytes behind the answer's end belong to no call: the
   * connection can't serve another one.
   * @throws ResponseParseError for an answer that can't be trusted any further.
   */
  read(bytes: Buffer): void {
    let body = bytes;
    while (!this.#head) {
      const rest = this.#readHead(body);
      if (!rest || this.#stopped) return;
      body = rest;
    }
    if (body.length === 0) return;
    const read = this.#chunked ? this.#readChunks(this.#chunked, body) : this.#readPlain(body);
    if (read < body.length) this.#polluted = true;
  }

  /**
   * The connection has ended.
   * @throws ResponseParseError when the answer isn't whole.
   */
  end(): void {
    if (this.done) return;
    if (this.#head?.framing !== 'close') throw new ResponseParseError('the response was cut off');
    this.done = true;
  }

  /** @returns What is behind the head; undefined: the head isn't whole. */
  #readHead(bytes: Buffer): Buffer | undefined {
    const all = this.#pending.length > 0 ? Buffer.concat([this.#pending, bytes]) : bytes;
    const end = all.indexOf(HEAD_END, 0, 'latin1');
    if (end === -1 ? all.length > MAX_HEAD_BYTES : end > MAX_HEAD_BYTES)
      throw new ResponseParseError('the response head is too long');
    if (end === -1) {
      this.#pending = Buffer.from(all);
      return undefined;
    }
    this.#pending = NOTHING;
    const head = parseHead(all.toString('latin1', 0, end + 2));
    if (head.status === SWITCHING_PROTOCOLS) throw new ResponseParseError('the upstream switched protocols');
    // Other informational answers come before the one that counts, unless they say that nothing follows.
    if (head.status >= 200) this.#begin(head);
    else if (head.idleMs === 0)
      throw new ResponseParseError('the upstream closed the connection before this response');
    return all.subarray(end + HEAD_END.length);
  }

  #begin(head: ParsedHead): void {
    this.accepts?.(head);
    this.#head = head;
    if (head.framing === 'chunked') this.#chunked = new ChunkedDecoder();
    else this.#left = head.framing === 'close' ? Number.POSITIVE_INFINITY : head.framing;
    this.done = this.#left === 0 && !this.#chunked;
    this.sink.onHead(head);
  }

  #readPlain(bytes: Buffer): number {
    const length = Math.min(this.#left, bytes.length);
    this.#left -= length;
    this.done = this.#left === 0;
    if (length > 0)
      this.sink.onData(Buffer.from(length === bytes.length ? bytes : bytes.subarray(0, length)));
    return length;
  }

  #readChunks(decoder: ChunkedDecoder, bytes: Buffer): number {
    const start = decoder.wholeChunk(bytes);
    if (start > 0) {
      this.sink.onData(Buffer.from(bytes.subarray(start, bytes.length - LINE_END_BYTES)));
      return bytes.length;
    }
    const target = Buffer.allocUnsafe(bytes.length);
    const { read, written } = decoder.decode(bytes, 0, target);
    this.done = decoder.done;
    if (written > 0) {
      const data = target.subarray(0, written);
      // Tiny chunks: who keeps the few bytes must not keep the room of all of them.
      this.sink.onData(written * 2 < target.length ? Buffer.from(data) : data);
    }
    return read;
  }
}
