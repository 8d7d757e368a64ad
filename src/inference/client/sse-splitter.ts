/**
 * Cuts a byte stream into server-sent events at their blank lines, whatever way the bytes arrive. It hands out
 * the original bytes, so that what goes on is what came. Lines end with LF or CRLF; a lone CR is taken as text.
 */

/** An event's bytes, its blank line included. */
export type EventSink = (event: Buffer) => void;

/** Largest event that is buffered (RELIABILITY.md F7). */
export const MAX_EVENT_BYTES = 1024 * 1024;

export class EventTooLargeError extends Error {}

const LF = 0x0a;
const CR = 0x0d;

export class SseSplitter {
  #rest: Buffer | undefined;
  /** Offset in `#rest` before which no blank line can end. */
  #searched = 0;

  constructor(private readonly maxEventBytes = MAX_EVENT_BYTES) {}

  /**
   * Takes the next bytes and calls `sink` for each event that they complete.
   * @throws EventTooLargeError when an event passes the cap.
   */
  push(chunk: Buffer, sink: EventSink): void {
    const bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk;
    let start = 0;
    let searchFrom = this.#searched;
    for (;;) {
      const end = eventEnd(bytes, searchFrom);
      if (end < 0) break;
      if (end - start > this.maxEventBytes) throw new EventTooLargeError();
      sink(bytes.subarray(start, end));
      start = end;
      searchFrom = end;
    }
    const left = bytes.length - start;
    if (left > this.maxEventBytes) throw new EventTooLargeError();
    // Copied where it is a small part: a view would keep the whole read alive for as long as the reader is slow.
    this.#rest =
      left === 0 ? undefined : start > left ? Buffer.from(bytes.subarray(start)) : bytes.subarray(start);
    // The last three bytes may be the beginning of a blank line: LF, CR, LF.
    this.#searched = Math.max(0, left - 3);
  }

  /** Bytes of an event that has not ended. */
  get rest(): Buffer | undefined {
    return this.#rest;
  }
}

/** Offset just past the first blank line at or after `from`, or -1. */
function eventEnd(bytes: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const lineFeed = bytes.indexOf(LF, at);
    if (lineFeed < 0) return -1;
    if (bytes[lineFeed + 1] === LF) return lineFeed + 2;
    if (bytes[lineFeed + 1] === CR && bytes[lineFeed + 2] === LF) return lineFeed + 3;
    at = lineFeed + 1;
  }
}

const DATA = Buffer.from('data:');
const SPACE = 0x20;
const COLON = 0x3a;

/** The payload of an event, its `data:` lines joined; undefined for a comment or an event without data. */
export function eventData(event: Buffer): Buffer | undefined {
  if (startsWithData(event, 0)) {
    const end = event.indexOf(LF);
    if (!hasMoreLines(event, end)) return payload(event, DATA.length, end);
  }
  return joinDataLines(event);
}

/** Whether an event is one line of data and nothing else. */
export const isDataAlone = (event: Buffer): boolean =>
  startsWithData(event, 0) && !hasMoreLines(event, event.indexOf(LF));

/** The lines of an event that carry no data. */
export interface OtherLines {
  comments: number;
  /** `id:`, `event:`, `retry:` and whatever else. */
  fields: number;
  /** The payload of an error told by the line itself: `event: error`, or llama.cpp's `error: {…}`. */
  error: Buffer | undefined;
}

const ERROR_LINE = /^error:|^event: ?error\s*$/;
/** A field's name and the beginning of its value. */
const LINE_START_BYTES = 32;

/** Reads the lines of an event other than its data. */
export function otherLines(event: Buffer): OtherLines {
  const found: OtherLines = { comments: 0, fields: 0, error: undefined };
  let at = startOf(event);
  for (let end = event.indexOf(LF, at); end >= 0; end = event.indexOf(LF, at)) {
    const line = event.subarray(at, event[end - 1] === CR ? Math.max(at, end - 1) : end);
    at = end + 1;
    if (line.length === 0 || startsWithData(line, 0)) continue;
    if (line[0] === COLON) {
      found.comments++;
      continue;
    }
    found.fields++;
    if (!ERROR_LINE.test(line.toString('latin1', 0, LINE_START_BYTES))) continue;
    found.error = eventData(event) ?? line.subarray(line.indexOf(COLON) + 1);
  }
  return found;
}

/** A byte order mark may open the stream. */
const startOf = (event: Buffer): number =>
  event[0] === 0xef && event[1] === 0xbb && event[2] === 0xbf ? 3 : 0;

const startsWithData = (bytes: Buffer, at: number): boolean =>
  bytes[at] === 0x64 &&
  bytes[at + 1] === 0x61 &&
  bytes[at + 2] === 0x74 &&
  bytes[at + 3] === 0x61 &&
  bytes[at + 4] === 0x3a;

/** Whether anything but the blank line follows the line that ends at `lineFeed`. A lone CR ends a line for clients too. */
function hasMoreLines(event: Buffer, lineFeed: number): boolean {
  const next = event[lineFeed + 1];
  return next !== LF && !(next === CR && event[lineFeed + 2] === LF);
}

function payload(bytes: Buffer, from: number, lineFeed: number): Buffer {
  const start = bytes[from] === SPACE ? from + 1 : from;
  const end = bytes[lineFeed - 1] === CR ? lineFeed - 1 : lineFeed;
  return bytes.subarray(start, Math.max(start, end));
}

function joinDataLines(event: Buffer): Buffer | undefined {
  const parts: Buffer[] = [];
  let at = startOf(event);
  while (at < event.length) {
    const lineFeed = event.indexOf(LF, at);
    if (lineFeed < 0) break;
    if (startsWithData(event, at)) {
      if (parts.length > 0) parts.push(Buffer.from('\n'));
      parts.push(payload(event, at + DATA.length, lineFeed));
    }
    at = lineFeed + 1;
  }
  // One line stays a view of the event, so that its place in it is known.
  return parts.length > 1 ? Buffer.concat(parts) : parts[0];
}
