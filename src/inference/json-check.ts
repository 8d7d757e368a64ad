import type { Member } from '../lib/json-scan.js';
import { JsonScanError, readKey, skipSpace } from '../lib/json-tokens.js';

/**
 * Checks JSON without building values. JSON.parse creates an object for every two bytes of `[],[],…`: ten megabytes of that block a
 * process for most of a second, and its garbage collector afterwards.
 */

/** Longer names at the top level take long to read, and no client needs them. */
const LONGEST_NAME = 64 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LOWER_U = 0x75;

const bytesOf = (text: string): readonly number[] => [...Buffer.from(text)];
const LITERALS = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), bytesOf(word)]));

/** What may follow a backslash, except `u` and its four digits. */
const ESCAPED = new Uint8Array(256);
for (const byte of bytesOf('"\\/bfnrt')) ESCAPED[byte] = 1;
const HEX = new Uint8Array(256);
for (const byte of bytesOf('0123456789abcdefABCDEF')) HEX[byte] = 1;

/** NUL past the end, which is never valid. A single read past the end would make all reads twice as slow. */
const byteAt = (json: Buffer, at: number): number => (at < json.length ? json[at]! : 0);

/** Ends a string or needs a closer look. */
const ODD = /[^ !#-[\]-\xff]/;
/** Read byte by byte; longer strings are searched by native code, in blocks from 256 bytes to 64 KiB. */
const SHORT_BYTES = 64;
const FIRST_BLOCK_BYTES = 256;
const LAST_BLOCK_BYTES = 64 * 1024;

function skipString(json: Buffer, from: number): number {
  let at = from + 1;
  for (;;) {
    for (const near = Math.min(json.length, at + SHORT_BYTES); at < near; at++) {
      const byte = json[at]!;
      if (byte > BACKSLASH) continue;
      if (byte === QUOTE) return at + 1;
      if (byte < 0x20) throw new JsonScanError('a string contains a control character');
      if (byte === BACKSLASH) at = skipEscape(json, at);
    }
    if (at >= json.length) throw new JsonScanError('a string is not terminated');
    for (let bytes = FIRST_BLOCK_BYTES; at < json.length; bytes = Math.min(2 * bytes, LAST_BLOCK_BYTES)) {
      const odd = json.toString('latin1', at, at + bytes).search(ODD);
      if (odd >= 0) {
        at += odd;
        break;
      }
      at += bytes;
    }
  }
}

/** Offset of the last byte of the escape that begins at `from`. */
function skipEscape(json: Buffer, from: number): number {
  const at = from + 1;
  if (byteAt(json, at) !== LOWER_U) {
    if (!ESCAPED[byteAt(json, at)]) throw new JsonScanError('an escape is not valid');
    return at;
  }
  const end = at + 4;
  for (let digit = at + 1; digit <= end; digit++)
    if (!HEX[byteAt(json, digit)]) throw new JsonScanError('an escape is not valid');
  return end;
}

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE;

/** At least one digit. */
function skipDigits(json: Buffer, from: number): number {
  let at = from;
  while (isDigit(byteAt(json, at))) at++;
  if (at === from) throw new JsonScanError('a number is not valid');
  return at;
}

function skipNumber(json: Buffer, from: number): number {
  let at = byteAt(json, from) === MINUS ? from + 1 : from;
  at = byteAt(json, at) === ZERO ? at + 1 : skipDigits(json, at);
  let byte = byteAt(json, at);
  if (byte === POINT) {
    at = skipDigits(json, at + 1);
    byte = byteAt(json, at);
  }
  if (byte === 0x65 || byte === 0x45) {
    at++;
    if (byteAt(json, at) === PLUS || byteAt(json, at) === MINUS) at++;
    at = skipDigits(json, at);
  }
  return at;
}

function skipLiteral(json: Buffer, from: number): number {
  const word = LITERALS.get(byteAt(json, from));
  if (!word) throw new JsonScanError('a value is missing');
  for (let i = 1; i < word.length; i++) {
    if (byteAt(json, from + i) !== word[i]) throw new JsonScanError('a value is not valid');
  }
  return from + word.length;
}

const FIRST_DEPTH = 64;

function grown(open: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(2 * open.length);
  larger.set(open);
  return larger;
}

/**
 * The members of the object that fills `json`, in order, including duplicates. Accepts what JSON.parse accepts, up to a depth and a
 * number of members. Doesn't check that the bytes are valid UTF-8.
 * @throws JsonScanError
 */
export function checkedMembers(
  json: Buffer,
  maxDepth = Number.POSITIVE_INFINITY,
  maxMembers = Number.POSITIVE_INFINITY,
): Member[] {
  const members: Member[] = [];
  /** Open brackets: 1 for an object, 0 for an array. */
  let open = new Uint8Array(Math.min(maxDepth, FIRST_DEPTH) + 1);
  let depth = 0;
  let at = skipSpace(json, 0);
  if (byteAt(json, at) !== OPEN_BRACE) throw new JsonScanError('not an object');
  let nameNext = false;
  for (;;) {
    if (nameNext) {
      const start = skipSpace(json, at);
      if (byteAt(json, start) !== QUOTE) throw new JsonScanError('a key is missing');
      const end = skipString(json, start);
      at = skipSpace(json, end);
      if (byteAt(json, at) !== COLON) throw new JsonScanError('a colon is missing');
      at++;
      nameNext = false;
      if (depth === 1) {
        if (members.length === maxMembers) throw new JsonScanError(`more than ${maxMembers} members`);
        if (end - start > LONGEST_NAME) throw new JsonScanError('a name is too long');
        members.push({ key: readKey(json, start, end), start, valueStart: skipSpace(json, at), end: 0 });
      }
    }
    at = skipSpace(json, at);
    const byte = byteAt(json, at);
    if (byte === OPEN_BRACKET || byte === OPEN_BRACE) {
      if (depth === maxDepth) throw new JsonScanError(`nested deeper than ${maxDepth} levels`);
      if (depth + 1 === open.length) open = grown(open);
      const isObject = byte === OPEN_BRACE;
      open[++depth] = isObject ? 1 : 0;
      at = skipSpace(json, at + 1);
      if (byteAt(json, at) !== (isObject ? CLOSE_BRACE : CLOSE_BRACKET)) {
        nameNext = isObject;
        continue;
      }
    } else if (byte === QUOTE) at = skipString(json, at);
    else if (byte === MINUS || isDigit(byte)) at = skipNumber(json, at);
    else at = skipLiteral(json, at);
    // After a value, or before the end of an empty container: close brackets up to the next value.
    for (;;) {
      const end = at;
      at = skipSpace(json, at);
      const next = byteAt(json, at);
      if (next === COMMA) {
        if (depth === 1) members.at(-1)!.end = end;
        nameNext = open[depth] === 1;
        at++;
        break;
      }
      if (next !== (open[depth] === 1 ? CLOSE_BRACE : CLOSE_BRACKET))
        throw new JsonScanError('brackets do not match');
      if (depth === 1 && members.length > 0) members.at(-1)!.end = end;
      at++;
      if (--depth === 0) {
        if (skipSpace(json, at) !== json.length) throw new JsonScanError('text after the object');
        return members;
      }
    }
  }
}
