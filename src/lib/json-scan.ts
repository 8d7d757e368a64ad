import { crossBrackets, JsonScanError, readKey, skipSpace, skipString, skipWord } from './json-tokens.js';

const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const QUOTE = 0x22;

/**
 * Finds the members of a JSON object without building it, so that bodies can be changed by splicing bytes and all other bytes remain
 * unchanged. Checks the structure (strings, brackets, depth) but not numbers or literals: for full validity, parse or check as well
 * (inference/json-check.ts).
 */

export interface Member {
  key: string;
  /** Offset of the key's opening quote. */
  start: number;
  valueStart: number;
  /** Offset just past the value. */
  end: number;
}

/** An object's members in order, including duplicates. */
export interface ScannedObject {
  members: Member[];
  /** Offset just past the object. */
  end: number;
}

/**
 * The members of the object that fills `json`, in order, including duplicates. Pass an infinite `maxDepth` for answers of models.
 * @param latin1 The whole of `json` as a string, if the caller has it.
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
 * Visits the elements of the array that begins at `from`. `take` reads the element at an offset and returns the offset just past it.
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
 * The members named in `keys`, in order, including duplicates; undefined if the bytes aren't a JSON object. For answers of models:
 * the depth is unlimited.
 */
export function findMembers(json: Buffer, keys: readonly string[]): Member[] | undefined {
  try {
    return scanMembers(json, Number.POSITIVE_INFINITY).filter(({ key }) => keys.includes(key));
  } catch (error) {
    if (error instanceof JsonScanError) return undefined;
    throw error;
  }
}

/** The bytes with the value of each member replaced by `value`. Members must be in order. */
export function replaceValues(json: Buffer, members: readonly Member[], value: Buffer): Buffer {
  return members.length === 0 ? json : Buffer.concat(replacedParts(json, members, value));
}

/** The same in pieces, without copying. */
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

export interface Edit {
  start: number;
  end: number;
  bytes: Buffer;
}

/** The bytes with all edits applied. Edits must be in order and must not overlap. */
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

/** Parses the value of a scanned member. */
export function memberValue(json: Buffer, member: Member): unknown {
  return JSON.parse(json.toString('utf8', member.valueStart, member.end));
}

/**
 * The value of a member if it is a string; otherwise undefined.
 * @param latin1 The whole of `json` as a string, if the caller has it.
 */
export function memberText(json: Buffer, { valueStart, end }: Member, latin1?: string): string | undefined {
  if (json[valueStart] !== QUOTE) return undefined;
  try {
    return readKey(json, valueStart, end, latin1);
  } catch {
    return undefined;
  }
}
