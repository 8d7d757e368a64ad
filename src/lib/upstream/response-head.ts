import {
  LITELLM_DEPLOYMENT_HEADER,
  readLitellmDeployment,
  readServedBy,
  SERVED_BY_HEADER,
  type ServedBy,
} from './served-by.js';

/** What the edge reads of an answer's head; nothing else of it matters, and nothing of it is passed on. */
export interface ResponseHead {
  status: number;
  contentType: string;
  retryAfter: string | undefined;
  /** Its `x-request-id`, if any. */
  requestId: string | undefined;
  /** Which deployment answered, if it says so (served-by.ts). */
  servedBy: ServedBy | undefined;
}

/** How the end of a body is known: after so many bytes, by chunks, or by the end of the connection. */
export type BodyFraming = number | 'chunked' | 'close';

export interface ParsedHead extends ResponseHead {
  framing: BodyFraming;
  /** Milliseconds that the connection may rest for before the next call; 0: it ends with this one. */
  idleMs: number;
}

/** An answer that is not HTTP/1.1 as the edge understands it, or that two readers could read in two ways. */
export class ResponseParseError extends Error {
  readonly code = 'UPSTREAM_GARBAGE';
}

// Spaces around a name, folded lines, bare line feeds and control characters are what readers disagree about.
const HEAD =
  /^HTTP\/1\.[01] [1-5]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?\r\n(?:[!#$%&'*+.^_`|~\w-]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/;
const OLD_VERSION = 'HTTP/1.0';
const DIGITS = /^\d{1,15}$/;
const TIMEOUT_HINT = /timeout=(\d{1,6})/i;

/** Without a hint: Node and uvicorn let a connection rest for five seconds. */
const DEFAULT_IDLE_MS = 4_000;
const MAX_IDLE_MS = 600_000;
/** The upstream counts from when it sent its answer, and a call is on its way to it for a while. */
const HINT_MARGIN_MS = 1_000;

/**
 * Reads an answer's head, its last line's end included but without the empty line.
 * @throws ResponseParseError when it is malformed, or tells its body's length twice.
 */
export function parseHead(text: string): ParsedHead {
  if (!HEAD.test(text)) throw new ResponseParseError('the response head is malformed');
  const head: ParsedHead = {
    status: Number(text.slice(9, 12)),
    contentType: '',
    retryAfter: undefined,
    requestId: undefined,
    servedBy: undefined,
    framing: 'close',
    idleMs: text.charCodeAt(7) === 0x31 ? DEFAULT_IDLE_MS : 0,
  };
  let at = text.indexOf('\n') + 1;
  while (at < text.length) {
    const end = text.indexOf('\r', at);
    const colon = text.indexOf(':', at);
    takeField(head, text, at, colon, end);
    at = end + 2;
  }
  if (head.framing === 'chunked' && text.startsWith(OLD_VERSION))
    throw new ResponseParseError('HTTP/1.0 has no chunked encoding');
  if (isBodiless(head.status)) {
    // Who tells of a body there may send it, where the next answer would begin.
    if (head.status >= 200 && head.framing !== 'close' && head.framing !== 0) head.idleMs = 0;
    head.framing = 0;
  } else if (head.framing === 'close') head.idleMs = 0;
  return head;
}

const isBodiless = (status: number): boolean => status < 200 || status === 204 || status === 304;

/** Most fields are told apart by the length of their names. */
function takeField(head: ParsedHead, text: string, start: number, colon: number, end: number): void {
  switch (colon - start) {
    case 10: {
      const name = text.slice(start, colon).toLowerCase();
      if (name === 'connection' && /close/i.test(text.slice(colon, end))) head.idleMs = 0;
      else if (name === 'keep-alive' && head.idleMs > 0) head.idleMs = idleOf(text.slice(colon + 1, end));
      return;
    }
    case 11:
      if (isNamed(text, start, colon, 'retry-after')) head.retryAfter = fieldValue(text, colon, end);
      return;
    case 12:
      if (isNamed(text, start, colon, 'content-type')) head.contentType = fieldValue(text, colon, end);
      else if (isNamed(text, start, colon, 'x-request-id')) head.requestId = fieldValue(text, colon, end);
      return;
    case 14:
      if (isNamed(text, start, colon, 'content-length'))
        frame(head, lengthOf(framingValue(text, colon, end)));
      return;
    case 16:
      // Not of HTTP, but llhttp, by which most read it, ends a connection for it.
      if (isNamed(text, start, colon, 'proxy-connection') && /close/i.test(text.slice(colon, end)))
        head.idleMs = 0;
      return;
    case 17:
      if (isNamed(text, start, colon, 'transfer-encoding'))
        frame(head, codingOf(framingValue(text, colon, end)));
      return;
    case 18:
      if (isNamed(text, start, colon, LITELLM_DEPLOYMENT_HEADER))
        head.servedBy = readLitellmDeployment(fieldValue(text, colon, end));
      return;
    case 19:
      if (isNamed(text, start, colon, SERVED_BY_HEADER))
        head.servedBy = readServedBy(fieldValue(text, colon, end));
  }
}

const SPACE = 0x20;
const TAB = 0x09;
const isBlank = (code: number): boolean => code === SPACE || code === TAB;

/**
 * A field's value without the spaces and tabs around it. `trim` also removes \xa0, which other readers treat as part
 * of the value: they would see a different length than we do.
 */
function fieldValue(text: string, colon: number, end: number): string {
  let from = colon + 1;
  let to = end;
  while (from < to && isBlank(text.charCodeAt(from))) from++;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

/** With what stands behind it: to some readers a space there is part of a length, and a tab of a coding. */
function framingValue(text: string, colon: number, end: number): string {
  let from = colon + 1;
  while (from < end && isBlank(text.charCodeAt(from))) from++;
  return text.slice(from, end);
}

function isNamed(text: string, start: number, colon: number, name: string): boolean {
  return text.startsWith(name, start) || text.slice(start, colon).toLowerCase() === name;
}

function frame(head: ParsedHead, framing: BodyFraming): void {
  if (head.framing !== 'close') throw new ResponseParseError('the response has more than one Content-Length');
  head.framing = framing;
}

function lengthOf(digits: string): number {
  if (!DIGITS.test(digits)) throw new ResponseParseError('the Content-Length is not a number');
  return Number(digits);
}

function codingOf(value: string): 'chunked' {
  if (value.toLowerCase() !== 'chunked')
    throw new ResponseParseError('the transfer encoding is not supported');
  return 'chunked';
}

function idleOf(value: string): number {
  const hint = TIMEOUT_HINT.exec(value);
  if (!hint) return DEFAULT_IDLE_MS;
  return Math.min(MAX_IDLE_MS, Math.max(0, Number(hint[1]) * 1_000 - HINT_MARGIN_MS));
}
