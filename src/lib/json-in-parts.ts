import { type Member, memberValue } from './json-scan.js';
import { JsonScanError, readKey, skipSpace, skipString, skipWord } from './json-tokens.js';
import type { Work } from './turns.js';

/** Reading of JSON with pauses, for the model proxy. */

const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const QUOTE = 0x22;

/** Bytes between two pauses, or the one string that is longer. */
const PART_BYTES = 64 * 1024;
const ERROR = Buffer.from('"error"');
/** Read at once in a search, which takes less than a millisecond. */
const SEARCHED_BYTES = 2 ** 20;

function crossBrackets(json: Buffer, from: number, until: number, open: number[]): number {
  let at = from;
  while (at < until) {
    const byte = json[at]!;
    if (byte === QUOTE) {
      at = skipString(json, at);
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) open.push(byte);
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (open.pop() !== (byte === CLOSE_BRACE ? OPEN_BRACE : OPEN_BRACKET)) {
        throw new JsonScanError('brackets do not match');
      }
      if (open.length === 0) return at + 1;
    }
    at++;
  }
  return at;
}

function* skipValue(json: Buffer, from: number): Work<number> {
  const first = json[from];
  if (first === QUOTE) return skipString(json, from);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return skipWord(json, from);
  const open: number[] = [];
  for (let at = from; ; ) {
    const until = Math.min(json.length, at + PART_BYTES);
    at = crossBrackets(json, at, until, open);
    if (open.length === 0) return at;
    if (at >= json.length) throw new JsonScanError('a bracket does not close');
    yield;
  }
}

function* scanObject(json: Buffer, from: number): Work<{ members: Member[]; end: number }> {
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
    const end = yield* skipValue(json, valueStart);
    members.push({ key: readKey(json, start, keyEnd), start, valueStart, end });
    at = skipSpace(json, end);
    if (json[at] === CLOSE_BRACE) return { members, end: at + 1 };
    if (json[at] !== COMMA) throw new JsonScanError('a comma is missing');
    at = skipSpace(json, at + 1);
  }
}

/** @throws JsonScanError */
export function* scanMembersInParts(json: Buffer): Work<Member[]> {
  const { members, end } = yield* scanObject(json, skipSpace(json, 0));
  if (skipSpace(json, end) !== json.length) throw new JsonScanError('text after the object');
  return members;
}

/**
 * The error that a choice reports, as the payload of an error answer.
 * @throws JsonScanError, SyntaxError
 */
export function* choicesErrorInParts(json: Buffer, { valueStart, end }: Member): Work<Buffer | undefined> {
  if (json[valueStart] !== OPEN_BRACKET || !(yield* namesError(json, valueStart, end))) return undefined;
  let at = skipSpace(json, valueStart + 1);
  if (json[at] === CLOSE_BRACKET) return undefined;
  for (;;) {
    let next: number;
    if (json[at] === OPEN_BRACE) {
      const choice = yield* scanObject(json, at);
      const error = choice.members.findLast(({ key }) => key === 'error');
      const told = error && memberValue(json, error);
      if (told) return Buffer.from(JSON.stringify({ error: told }));
      next = choice.end;
    } else next = yield* skipValue(json, at);
    yield;
    at = skipSpace(json, next);
    if (json[at] === CLOSE_BRACKET) return undefined;
    if (json[at] !== COMMA) throw new JsonScanError('a comma is missing');
    at = skipSpace(json, at + 1);
  }
}

function* namesError(json: Buffer, from: number, end: number): Work<boolean> {
  for (let at = from; at < end; at += SEARCHED_BYTES) {
    // A name that crosses the border is found in the piece in which it begins.
    const piece = json.subarray(at, Math.min(end, at + SEARCHED_BYTES + ERROR.length - 1));
    if (piece.includes(ERROR)) return true;
    yield;
  }
  return false;
}
