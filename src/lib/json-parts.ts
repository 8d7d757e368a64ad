import {
  crossBrackets,
  JsonScanError,
  type Member,
  readKey,
  skipSpace,
  skipString,
  skipValue,
} from './json-scan.js';
import type { Work } from './turns.js';

/**
 * Walks over JSON of many megabytes with pauses, so that others are served in between. It finds what json-scan.ts
 * finds, and checks as much: strings and brackets, not numbers or literals.
 */

/** Bytes between two pauses, or the one string that is longer. */
const PART_BYTES = 64 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** An object's members, in order, duplicates included. */
export interface ScannedObject {
  members: Member[];
  /** Offset just past the object. */
  end: number;
}

/**
 * The members of the object that fills `json`.
 * @throws JsonScanError
 */
export function* scanMembersInParts(json: Buffer): Work<Member[]> {
  const { members, end } = yield* scanObjectInParts(json, skipSpace(json, 0));
  if (skipSpace(json, end) !== json.length) throw new JsonScanError('text after the object');
  return members;
}

/**
 * The members of the object that begins at `from`.
 * @throws JsonScanError
 */
export function* scanObjectInParts(json: Buffer, from: number): Work<ScannedObject> {
  if (json[from] !== OPEN_BRACE) throw new JsonScanError('not an object');
  const members: Member[] = [];
  let at = skipSpace(json, from + 1);
  if (json[at] === CLOSE_BRACE) return { members, end: at + 1 };
  for (let pauseAt = at + PART_BYTES; ; ) {
    if (at > pauseAt) {
      yield;
      pauseAt = at + PART_BYTES;
    }
    if (json[at] !== QUOTE) throw new JsonScanError('a key is missing');
    const start = at;
    const keyEnd = skipString(json, at);
    at = skipSpace(json, keyEnd);
    if (json[at] !== COLON) throw new JsonScanError('a colon is missing');
    const valueStart = skipSpace(json, at + 1);
    const end = yield* skipValueInParts(json, valueStart);
    members.push({ key: readKey(json, start, keyEnd), start, valueStart, end });
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
export function* eachElement(json: Buffer, from: number, take: (start: number) => Work<number>): Work<void> {
  if (json[from] !== OPEN_BRACKET) throw new JsonScanError('not an array');
  let at = skipSpace(json, from + 1);
  if (json[at] === CLOSE_BRACKET) return;
  for (;;) {
    const end = yield* take(at);
    yield;
    at = skipSpace(json, end);
    if (json[at] === CLOSE_BRACKET) return;
    if (json[at] !== COMMA) throw new JsonScanError('a comma is missing');
    at = skipSpace(json, at + 1);
  }
}

/**
 * Offset just past the value that begins at `from`.
 * @throws JsonScanError
 */
export function* skipValueInParts(json: Buffer, from: number): Work<number> {
  const first = json[from];
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return skipValue(json, from, Number.POSITIVE_INFINITY);
  const open: number[] = [];
  for (let at = from; ; ) {
    const until = Math.min(json.length, at + PART_BYTES);
    at = crossBrackets(json, at, until, Number.POSITIVE_INFINITY, open);
    if (open.length === 0) return at;
    if (at >= json.length) throw new JsonScanError('a bracket is not closed');
    yield;
  }
}
