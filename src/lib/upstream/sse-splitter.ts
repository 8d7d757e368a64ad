import { AnswerTooLargeError, MAX_EVENT_BYTES } from './answer-limits.js';

/**
 * Cuts a byte stream into server-sent events at their blank lines, whatever way the bytes arrive. It hands out
 * the original bytes, so that what goes on is what came. Lines end with LF or CRLF; a lone CR is taken as text.
 */

/** An event's bytes, its blank line included. */
export type EventSink = (event: Buffer) => void;

/** Who may know events by sight. */
export interface WholeEventSink {
  /** Takes bytes behind a whole event, before they are searched; false if it doesn't know them to be one event. */
  takeWhole(bytes: Buffer): boolean;
}

const LF = 0x0a;
const CR = 0x0d;

/** A blank line may lie across the border of two reads: LF, CR, LF. */
const SEAM_BYTES = 2;

export class SseSplitter {
  /** An event that has not ended, in the pieces that it came in: joined at its end, since it may come byte by byte. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** The last bytes of it. */
  #seam: Buffer | undefined;

  constructor(private readonly maxEventBytes = MAX_EVENT_BYTES) {}

  /**
   * Takes the next bytes and calls `sink` for each event that they complete.
   * @throws AnswerTooLargeError when an event passes the cap.
   */
  push(chunk: Buffer, sink: EventSink, whole?: WholeEventSink): void {
    if (whole && this.#heldBytes === 0 && whole.takeWhole(chunk)) return;
    let start = 0;
    for (let end = this.#firstEnd(chunk); end >= 0; end = eventEnd(chunk, start)) {
      this.#cap(end - start);
      const event = start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end);
      start = end;
      sink(this.#heldBytes > 0 ? this.#joined(event) : event);
    }
    if (start < chunk.length) this.#hold(start === 0 ? chunk : chunk.subarray(start), start);
  }

  /** Bytes of an event that has not ended. */
  get rest(): Buffer | undefined {
    return this.#heldBytes > 0 ? Buffer.concat(this.#held) : undefined;
  }

  #firstEnd(chunk: Buffer): number {
    if (this.#seam) {
      const end = eventEnd(Buffer.concat([this.#seam, chunk.subarray(0, SEAM_BYTES)]), 0);
      if (end >= 0) return end - this.#seam.length;
    }
    return eventEnd(chunk, 0);
  }

  #joined(end: Buffer): Buffer {
    const event = Buffer.concat([...this.#held, end], this.#heldBytes + end.length);
    this.#held = [];
    this.#heldBytes = 0;
    this.#seam = undefined;
    return event;
  }

  /** `before`: how many bytes of other events stand before these in one read. */
  #hold(bytes: Buffer, before: number): void {
    this.#cap(bytes.length);
    // Copied where it is a small part: a view would keep the whole read alive for as long as the reader is slow.
    const piece = before > bytes.length ? Buffer.from(bytes) : bytes;
    this.#held.push(piece);
    this.#heldBytes += piece.length;
    const last = piece.subarray(-SEAM_BYTES);
    this.#seam =
      this.#seam && last.length < SEAM_BYTES ? Buffer.concat([this.#seam, last]).subarray(-SEAM_BYTES) : last;
  }

  #cap(more: number): void {
    if (this.#heldBytes + more > this.maxEventBytes) throw new AnswerTooLargeError('an event is too large');
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
