import { crossBrackets, JsonScanError, readKey, skipSpace, skipString, skipWord } from './json-tokens.js';

const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const QUOTE = 0x22;

/**
 * Finds the members of a JSON object without building it, so that bodies can be changed by splicing bytes and
 * everything else stays as it came. It checks the structure (strings, brackets, depth), not numbers or literals:
 * whoever needs full validity parses or checks as well (json-check.ts).
 */

export interface Member {
  key: string;
  /** Offset of the key's opening quote. */
  start: number;
  valueStart: number;
  /** Offset just past the value. */
  end: number;
}

/** An object's members, in order, duplicates included. */
export interface ScannedObject {
  members: Member[];
  /** Offset just past the object. */
  end: number;
}

/**
 * The members of the object that fills `json`, in order, duplicates included. `latin1` is all of it, where it is there
 * already. Answers of a model may nest as they like.
 * @throws JsonScanError
 */
export function scanMembers(json: Buffer, maxDepth = 64, latin1?: string): Member[] {
  const { members, end } = scanObject(json, skipSpace(json, 0), maxDepth, latin1);
  if (skipSpace(json, end) !== json.length) throw new JsonScanError('text after the object');
  return members;
}

/**
 * The members of the object that begins at `from`.
 * @throws JsonScanError
 */
export function scanObject(
  json: Buffer,
  from: number,
  maxDepth = Number.POSITIVE_INFINITY,
  latin1?: string,
): ScannedObject {
  if (json[from] !== OPEN_BRACE) throw new JsonScanError('not an object');
  const members: Member[] = [];
  let at = skipSpace(json, from + 1);
  if (json[at] === CLOSE_BRACE) return { members, end: at + 1 };
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
    if (json[at] === CLOSE_BRACE) return { members, end: at + 1 };
    if (json[at] !== COMMA) throw new JsonScanError('a comma is missing');
    at = skipSpace(json, at + 1);
  }
}

/**
 * Walks over the array that begins at `from`. `take` reads the element at an offset and returns the offset just past it.
 * @throws JsonScanError, and what `take` throws
 */
export function eachElement(json: Buffer, from: number, take: (start: number) => number): void {
  if (json[from] !== OPEN_BRACKET) throw new JsonScanError('not an array');
  let at = skipSpace(json, from + 1);
  if (json[at] === CLOSE_BRACKET) return;
  for (;;) {
    at = skipSpace(json, take(at));
    if (json[at] === CLOSE_BRACKET) return;
    if (json[at] !== COMMA) throw new JsonScanError('a comma is missing');
    at = skipSpace(json, at + 1);
  }
}

/**
 * Offset just past the value that begins at `from`.
 * @throws JsonScanError
 */
export function skipValue(json: Buffer, from: number, maxDepth = Number.POSITIVE_INFINITY): number {
  const first = json[from];
  if (first === QUOTE) return skipString(json, from);
  return first === OPEN_BRACE || first === OPEN_BRACKET
    ? crossBrackets(json, from, maxDepth)
    : skipWord(json, from);
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

/** Bytes in place of others. */
export interface Edit {
  start: number;
  end: number;
  bytes: Buffer;
}

/** The bytes with every edit made; all other bytes stay. Edits are in order and don't overlap. */
export function splice(json: Buffer, edits: readonly Edit[]): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (const { start, end, bytes } of edits) {
    parts.push(json.subarray(from, start), bytes);
    from = end;
  }
  parts.push(json.subarray(from));
  return Buffer.concat(parts);
}

/** The value of a scanned member. */
export function memberValue(json: Buffer, member: Member): unknown {
  return JSON.parse(json.toString('utf8', member.valueStart, member.end));
}

/**
 * The text that a member's value is; undefined when it is something else. `latin1` is all of `json`, where it is there
 * already.
 */
export function memberText(json: Buffer, { valueStart, end }: Member, latin1?: string): string | undefined {
  if (json[valueStart] !== QUOTE) return undefined;
  try {
    return readKey(json, valueStart, end, latin1);
  } catch {
    return undefined;
  }
}
