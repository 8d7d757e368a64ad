import { isSpace } from '../json-tokens.js';

/** Reads server-sent events as the splitter passes them. */

/** An empty comment, which keeps a connection active. */
export const COMMENT_EVENT = Buffer.from(':\n\n');

const DATA = Buffer.from('data:');
const DONE = '[DONE]';
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;

/** The payload of an event, with its `data:` lines joined; undefined for a comment or another event without data. */
export function eventData(event: Buffer): Buffer | undefined {
  if (startsWithData(event, 0)) {
    const end = event.indexOf(LF);
    if (!hasMoreLines(event, end)) return payload(event, DATA.length, end);
  }
  return joinDataLines(event);
}

/** Whether an event is a single line of data. */
export const isDataAlone = (event: Buffer): boolean =>
  startsWithData(event, 0) && !hasMoreLines(event, event.indexOf(LF));

/** Whether a payload is the end of a stream. */
export function isDone(data: Buffer): boolean {
  const text = withoutBlanks(data);
  return text.length === DONE.length && text.toString('latin1') === DONE;
}

/** A payload without the blanks around it, which JSON allows. */
export function withoutBlanks(data: Buffer): Buffer {
  let start = 0;
  let end = data.length;
  while (start < end && isSpace(data[start])) start++;
  while (end > start && isSpace(data[end - 1])) end--;
  return start === 0 && end === data.length ? data : data.subarray(start, end);
}

/**
 * The event in pieces, with its payload `data` replaced. All other bytes are unchanged. A payload of several lines is replaced at the
 * first of them.
 */
export function withData(event: Buffer, data: Buffer, pieces: readonly Buffer[]): Buffer[] {
  const at = data.byteOffset - event.byteOffset;
  if (data.buffer === event.buffer && at >= 0 && at + data.length <= event.length)
    return [event.subarray(0, at), ...pieces, event.subarray(at + data.length)];
  const start = startOf(event);
  const out = [event.subarray(0, start)];
  let folded: string[] | undefined = Buffer.concat(pieces).toString('utf8').split('\n');
  for (let from = start, end = 0; from < event.length; from = end) {
    end = event.indexOf(LF, from) + 1 || event.length;
    if (!startsWithData(event, from)) out.push(event.subarray(from, end));
    else if (folded) {
      const lineEnd = event[end - 2] === CR ? '\r\n' : '\n';
      out.push(...folded.map((line) => Buffer.from(`data: ${line}${lineEnd}`)));
      folded = undefined;
    }
  }
  return out;
}

/** The lines of an event other than its data. */
export interface OtherLines {
  comments: number;
  /** `id:`, `event:`, `retry:` and any others. */
  fields: number;
  /** The payload of an error that the line announces: `event: error`, or llama.cpp's `error: {…}`. */
  error: Buffer | undefined;
}

const ERROR_LINE = /^error:|^event: ?error\s*$/;
/** A field's name and the beginning of its value. */
const LINE_START_BYTES = 32;

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

/** Whether more than the blank line follows the line that ends at `lineFeed`. For clients, a lone CR also ends a line. */
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
  // A single line stays a view of the event, so that its position is known.
  return parts.length > 1 ? Buffer.concat(parts) : parts[0];
}
