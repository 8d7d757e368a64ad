import { AnswerTooLargeError, MAX_EVENT_BYTES } from './answer-limits.js';

/**
 * Splits a byte stream into server-sent events at blank lines, however the bytes arrive. Passes the original bytes, so that forwarded
 * events are unchanged. Lines end with LF or CRLF; a lone CR counts as text.
 */

/** Receives an event's bytes with its blank line. */
export type EventSink = (event: Buffer) => void;

/** Recognises whole events without a search. */
export interface WholeEventSink {
  /** Takes the bytes after a whole event before they are searched. Returns false if they aren't known to be exactly one event. */
  takeWhole(bytes: Buffer): boolean;
}

const LF = 0x0a;
const CR = 0x0d;

/** A blank line may span two reads: LF, CR, LF. */
const SEAM_BYTES = 2;

export class SseSplitter {
  /** Pieces of an unfinished event. Joined only at its end, since it may arrive byte by byte. */
  #buffered: Buffer[] = [];
  #bufferedBytes = 0;
  /** The last bytes of the unfinished event. */
  #lastBytes: Buffer | undefined;

  constructor(private readonly maxEventBytes = MAX_EVENT_BYTES) {}

  /**
   * Takes the next bytes and calls `sink` for each completed event.
   * @throws AnswerTooLargeError if an event exceeds the limit
   */
  push(chunk: Buffer, sink: EventSink, whole?: WholeEventSink): void {
    if (whole && this.#bufferedBytes === 0 && whole.takeWhole(chunk)) return;
    let start = 0;
    for (let end = this.#firstEnd(chunk); end >= 0; end = eventEnd(chunk, start)) {
      this.#cap(end - start);
      const event = start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end);
      start = end;
      sink(this.#bufferedBytes > 0 ? this.#joined(event) : event);
    }
    if (start < chunk.length) this.#buffer(start === 0 ? chunk : chunk.subarray(start), start);
  }

  /** Bytes of the unfinished event. */
  get rest(): Buffer | undefined {
    return this.#bufferedBytes > 0 ? Buffer.concat(this.#buffered) : undefined;
  }

  #firstEnd(chunk: Buffer): number {
    if (this.#lastBytes) {
      const end = eventEnd(Buffer.concat([this.#lastBytes, chunk.subarray(0, SEAM_BYTES)]), 0);
      if (end >= 0) return end - this.#lastBytes.length;
    }
    return eventEnd(chunk, 0);
  }

  #joined(end: Buffer): Buffer {
    const event = Buffer.concat([...this.#buffered, end], this.#bufferedBytes + end.length);
    this.#buffered = [];
    this.#bufferedBytes = 0;
    this.#lastBytes = undefined;
    return event;
  }

  /** @param before Bytes of other events before these in the same read. */
  #buffer(bytes: Buffer, before: number): void {
    this.#cap(bytes.length);
    // Copies a small part of a read: a view would keep the whole read in memory.
    const piece = before > bytes.length ? Buffer.from(bytes) : bytes;
    this.#buffered.push(piece);
    this.#bufferedBytes += piece.length;
    const last = piece.subarray(-SEAM_BYTES);
    this.#lastBytes =
      this.#lastBytes && last.length < SEAM_BYTES
        ? Buffer.concat([this.#lastBytes, last]).subarray(-SEAM_BYTES)
        : last;
  }

  #cap(more: number): void {
    if (this.#bufferedBytes + more > this.maxEventBytes)
      throw new AnswerTooLargeError('an event is too large');
  }
}

/** Offset just past the first blank line at or after `from`, or -1. */
function eventEnd(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; ) {
    const lineFeed = bytes.indexOf(LF, at);
    if (lineFeed < 0) return -1;
    if (bytes[lineFeed + 1] === LF) return lineFeed + 2;
    if (bytes[lineFeed + 1] === CR && bytes[lineFeed + 2] === LF) return lineFeed + 3;
    at = lineFeed + 1;
  }
  return -1;
}
