/** Finds the tokens of JSON in its bytes without building values. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** The text isn't a JSON object, is cut off, or is nested too deep. */
export class JsonScanError extends Error {}

export const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Offset of the first byte at or after `from` that isn't white space. */
export function skipSpace(json: Buffer, from: number): number {
  let at = from;
  // A read past the end would make all reads slower.
  if (at < json.length && json[at]! > 0x20) return at;
  while (at < json.length && isSpace(json[at])) at++;
  return at;
}

/** Longer strings are crossed by native search, whose call costs more than reading a few bytes. */
const SHORT_STRING_BYTES = 48;
/** Most bytes read one by one before the next search, where escaped quotes are close together. */
const LONGEST_WALK_BYTES = 4_096;

/**
 * Offset just past the string that opens at `from`.
 * @throws JsonScanError if the string doesn't end
 */
export function skipString(json: Buffer, from: number): number {
  let at = from + 1;
  for (let walked = SHORT_STRING_BYTES; ; ) {
    // Read byte by byte after each escaped quote, of which there may be millions.
    for (const near = Math.min(json.length, at + walked); at < near; at++) {
      const byte = json[at];
      if (byte === QUOTE) return at + 1;
      if (byte === BACKSLASH) at++;
    }
    const quote = json.indexOf(QUOTE, at);
    if (quote < 0) throw new JsonScanError('a string does not end');
    let escapes = 0;
    while (quote - 1 - escapes >= at && json[quote - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return quote + 1;
    walked = quote - at < walked ? Math.min(2 * walked, LONGEST_WALK_BYTES) : SHORT_STRING_BYTES;
    at = quote + 1;
  }
}

/**
 * Offset just past the object or array that opens at `from`.
 * @throws JsonScanError
 */
export function crossBrackets(json: Buffer, from: number, maxDepth: number): number {
  const open: number[] = [];
  for (let at = from; at < json.length; ) {
    const byte = json[at]!;
    if (byte === QUOTE) {
      at = skipString(json, at);
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      // The scanned object counts as the first level.
      if (open.push(byte) >= maxDepth) throw new JsonScanError(`nested deeper than ${maxDepth} levels`);
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (open.pop() !== (byte === CLOSE_BRACE ? OPEN_BRACE : OPEN_BRACKET)) {
        throw new JsonScanError('brackets do not match');
      }
      if (open.length === 0) return at + 1;
    }
    at++;
  }
  throw new JsonScanError('a bracket does not close');
}

const endsWord = (byte: number): boolean =>
  byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || isSpace(byte);

/**
 * Offset just past the number or literal that begins at `from`.
 * @throws JsonScanError if there isn't one
 */
export function skipWord(json: Buffer, from: number): number {
  let at = from;
  while (at < json.length && !endsWord(json[at]!)) at++;
  if (at === from) throw new JsonScanError('a value is missing');
  return at;
}

/**
 * The name in the string from `start` to `end`.
 * @param latin1 The whole of `json` as a string, if the caller has it: slicing it costs a fraction of reading bytes.
 * @throws JsonScanError
 */
export function readKey(json: Buffer, start: number, end: number, latin1?: string): string {
  const text =
    latin1 === undefined ? json.toString('latin1', start + 1, end - 1) : latin1.slice(start + 1, end - 1);
  if (!/[\\\x80-\xff]/.test(text)) return text;
  try {
    return JSON.parse(json.toString('utf8', start, end)) as string;
  } catch {
    throw new JsonScanError('a key is not valid');
  }
}
