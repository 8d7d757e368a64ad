/**
 * Finds the members of a JSON object without building it, so that bodies can be changed by splicing bytes and
 * everything else stays as it came. It checks the structure (strings, brackets, depth), not numbers or literals:
 * whoever needs full validity parses as well.
 */

export interface Member {
  key: string;
  /** Offset of the key's opening quote. */
  start: number;
  valueStart: number;
  /** Offset just past the value. */
  end: number;
}

/** The text is no JSON object, is cut, or nests too deep. */
export class JsonScanError extends Error {}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Offset of the first byte from `from` on that is no white space. */
export function skipSpace(json: Buffer, from: number): number {
  let at = from;
  // A read beyond the end would make all others slower.
  while (at < json.length && isSpace(json[at])) at++;
  return at;
}

/** Strings longer than this are crossed by native search, whose call costs more than a short walk. */
const SHORT_STRING_BYTES = 48;
/** Where escaped quotes stand close together, so much is walked before the next search. */
const LONGEST_WALK_BYTES = 4_096;

/**
 * Offset just past the string that opens at `from`.
 * @throws JsonScanError when it does not end.
 */
export function skipString(json: Buffer, from: number): number {
  let at = from + 1;
  for (let walked = SHORT_STRING_BYTES; ; ) {
    // Walked after each escaped quote anew: there may be millions of them.
    for (const near = Math.min(json.length, at + walked); at < near; at++) {
      const byte = json[at];
      if (byte === QUOTE) return at + 1;
      if (byte === BACKSLASH) at++;
    }
    const quote = json.indexOf(QUOTE, at);
    if (quote < 0) throw new JsonScanError('a string is not terminated');
    let escapes = 0;
    while (quote - 1 - escapes >= at && json[quote - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return quote + 1;
    walked = quote - at < walked ? Math.min(2 * walked, LONGEST_WALK_BYTES) : SHORT_STRING_BYTES;
    at = quote + 1;
  }
}

function skipContainer(json: Buffer, from: number, maxDepth: number): number {
  const open: number[] = [];
  const at = crossBrackets(json, from, json.length, maxDepth, open);
  if (open.length > 0) throw new JsonScanError('a bracket is not closed');
  return at;
}

/**
 * Walks from `from` until the last open bracket has closed, or to the first value that begins at `until` or behind it.
 * `open` holds the brackets that are open, before and after.
 * @returns The offset to go on from.
 * @throws JsonScanError
 */
export function crossBrackets(
  json: Buffer,
  from: number,
  until: number,
  maxDepth: number,
  open: number[],
): number {
  let at = from;
  while (at < until) {
    const byte = json[at]!;
    if (byte === QUOTE) {
      at = skipString(json, at);
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      // The object that is scanned counts as the first level.
      if (open.push(byte) >= maxDepth) throw new JsonScanError(`nested deeper than ${maxDepth} levels`);
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (open.pop() !== (byte === CLOSE_BRACE ? OPEN_BRACE : OPEN_BRACKET)) {
        throw new JsonScanError('brackets do not match');
      }
      if (open.length === 0) return at + 1;
    }
    at++;
  }
  return at;
}

/**
 * Offset just past the value that begins at `from`.
 * @throws JsonScanError
 */
export function skipValue(json: Buffer, from: number, maxDepth: number): number {
  const byte = json[from];
  if (byte === QUOTE) return skipString(json, from);
  if (byte === OPEN_BRACE || byte === OPEN_BRACKET) return skipContainer(json, from, maxDepth);
  let at = from;
  while (at < json.length && json[at] !== COMMA && json[at] !== CLOSE_BRACE && !isSpace(json[at])) at++;
  if (at === from) throw new JsonScanError('a value is missing');
  return at;
}

/**
 * The name that the string from `start` to `end` is. `latin1` is all of `json`, where it is there already: a piece of it
 * costs a fraction of reading bytes.
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

/**
 * The members of the object that fills `json`, in order, duplicates included. `latin1` is all of it, where it is there
 * already.
 * @throws JsonScanError
 */
export function scanMembers(json: Buffer, maxDepth = 64, latin1?: string): Member[] {
  const members: Member[] = [];
  const end = scanObject(json, skipSpace(json, 0), maxDepth, members, latin1);
  if (skipSpace(json, end) !== json.length) throw new JsonScanError('text after the object');
  return members;
}

/**
 * Adds the members of the object that opens at `from` to `members`, duplicates included, and returns the offset just
 * past the object.
 * @throws JsonScanError
 */
export function scanObject(
  json: Buffer,
  from: number,
  maxDepth: number,
  members: Member[],
  latin1?: string,
): number {
  if (json[from] !== OPEN_BRACE) throw new JsonScanError('not an object');
  let at = skipSpace(json, from + 1);
  if (json[at] === CLOSE_BRACE) return at + 1;
  for (;;) {
    if (json[at] !== QUOTE) throw new JsonScanError('a key is missing');
    const start = at;
    const keyEnd = skipString(json, at);
    at = skipSpace(json, keyEnd);
    if (json[at] !== COLON) throw new JsonScanError('a colon is missing');
    const valueStart = skipSpace(json, at + 1);
    const end = skipValue(json, valueStart, maxDepth);
    members.push({ key: readKey(json, start, keyEnd, latin1), start, valueStart, end });
    at = skipSpace(json, end);
    if (json[at] === CLOSE_BRACE) return at + 1;
    if (json[at] !== COMMA) throw new JsonScanError('a comma is missing');
    at = skipSpace(json, at + 1);
  }
}

/**
 * The members called `keys`, in order and with duplicates; undefined when the bytes are no JSON object. For answers of
 * a model, which may nest as they like.
 */
export function findMembers(json: Buffer, keys: readonly string[]): Member[] | undefined {
  try {
    return scanMembers(json, Number.POSITIVE_INFINITY).filter(({ key }) => keys.includes(key));
  } catch (error) {
    if (error instanceof JsonScanError) return undefined;
    throw error;
  }
}

/** The bytes with every given member's value replaced by `value`; all other bytes stay. Members are in order. */
export function replaceValues(json: Buffer, members: readonly Member[], value: Buffer): Buffer {
  return members.length === 0 ? json : Buffer.concat(replacedParts(json, members, value));
}

/** The same in pieces, without a copy. */
export function replacedParts(json: Buffer, members: readonly Member[], value: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  let from = 0;
  for (const { valueStart, end } of members) {
    parts.push(json.subarray(from, valueStart), value);
    from = end;
  }
  parts.push(json.subarray(from));
  return parts;
}

/** The value of a scanned member. */
export function memberValue(json: Buffer, member: Member): unknown {
  return JSON.parse(json.toString('utf8', member.valueStart, member.end));
}

/** Replaces the value of one member; every other byte stays. */
export function replaceValue(json: Buffer, member: Member, value: unknown): Buffer {
  return replaceValues(json, [member], Buffer.from(JSON.stringify(value)));
}
