import { crossBrackets, JsonScanError, readKey, skipSpace, skipString, skipWord } from './json-tokens.js';
import type { Work } from './turns.js';

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
 * whoever needs full validity parses as well. JSON of many megabytes is walked over with pauses.
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

/** Bytes between two pauses, or the one string that is longer. */
const PART_BYTES = 64 * 1024;

/**
 * The members of the object that fills `json`, in order, duplicates included. `latin1` is all of it, where it is there
 * already.
 * @throws JsonScanError
 */
export function scanMembers(json: Buffer, maxDepth = 64, latin1?: string): Member[] {
  const scan = new ObjectScan(json, skipSpace(json, 0), maxDepth, latin1);
  scan.run(json.length);
  return scan.filling();
}

/**
 * The same with pauses. It may nest as it likes, as answers of a model do.
 * @throws JsonScanError
 */
export function* scanMembersInParts(json: Buffer): Work<Member[]> {
  const scan = new ObjectScan(json, skipSpace(json, 0), Number.POSITIVE_INFINITY);
  while (!scan.run(PART_BYTES)) yield;
  return scan.filling();
}

/**
 * The members of the object that begins at `from`.
 * @throws JsonScanError
 */
export function scanObject(json: Buffer, from: number, maxDepth: number): ScannedObject {
  const scan = new ObjectScan(json, from, maxDepth);
  scan.run(json.length);
  return scan;
}

/**
 * The same with pauses, of one that may nest as it likes.
 * @throws JsonScanError
 */
export function* scanObjectInParts(json: Buffer, from: number): Work<ScannedObject> {
  const scan = new ObjectScan(json, from, Number.POSITIVE_INFINITY);
  while (!scan.run(PART_BYTES)) yield;
  return scan;
}

/** A walk over an object that can pause anywhere but within a string. */
class ObjectScan implements ScannedObject {
  readonly members: Member[] = [];
  end = -1;
  #at: number;
  /** The member whose value is being walked over, and the brackets that are open in it. */
  #member: Member | undefined;
  #open: number[] | undefined;

  constructor(
    private readonly json: Buffer,
    from: number,
    private readonly maxDepth: number,
    private readonly latin1?: string,
  ) {
    if (json[from] !== OPEN_BRACE) throw new JsonScanError('not an object');
    this.#at = skipSpace(json, from + 1);
    if (json[this.#at] === CLOSE_BRACE) this.end = this.#at + 1;
  }

  /** Walks on for about so many bytes. @returns Whether the object is over. @throws JsonScanError */
  run(bytes: number): boolean {
    const { json, members, latin1 } = this;
    let at = this.#at;
    const until = Math.min(json.length, at + bytes);
    while (this.end < 0) {
      let member = this.#member;
      if (!member) {
        if (json[at] !== QUOTE) throw new JsonScanError('a key is missing');
        const start = at;
        const keyEnd = skipString(json, at);
        at = skipSpace(json, keyEnd);
        if (json[at] !== COLON) throw new JsonScanError('a colon is missing');
        at = skipSpace(json, at + 1);
        member = { key: readKey(json, start, keyEnd, latin1), start, valueStart: at, end: 0 };
        members.push(member);
      }
      const byte = json[at];
      if (this.#open || byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        const open = this.#open ?? [];
        at = crossBrackets(json, at, until, this.maxDepth, open);
        if (open.length > 0 || at === member.valueStart) return this.#pause(at, member, open);
        this.#open = undefined;
        this.#member = undefined;
      } else at = byte === QUOTE ? skipString(json, at) : skipWord(json, at);
      member.end = at;
      at = skipSpace(json, at);
      if (json[at] === CLOSE_BRACE) this.end = at + 1;
      else if (json[at] !== COMMA) throw new JsonScanError('a comma is missing');
      else at = skipSpace(json, at + 1);
      if (at > until) return this.#pause(at);
    }
    return true;
  }

  #pause(at: number, member?: Member, open: number[] = []): boolean {
    if (open.length > 0 && at >= this.json.length) throw new JsonScanError('a bracket does not close');
    this.#at = at;
    this.#member = member;
    this.#open = open.length > 0 ? open : undefined;
    return this.end >= 0;
  }

  /** The members of an object that must fill the text. @throws JsonScanError */
  filling(): Member[] {
    if (skipSpace(this.json, this.end) !== this.json.length) throw new JsonScanError('text after the object');
    return this.members;
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
 * Offset just past the value that begins at `from`, with pauses.
 * @throws JsonScanError
 */
export function* skipValueInParts(json: Buffer, from: number): Work<number> {
  const first = json[from];
  if (first === QUOTE) return skipString(json, from);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return skipWord(json, from);
  const open: number[] = [];
  for (let at = from; ; ) {
    const until = Math.min(json.length, at + PART_BYTES);
    at = crossBrackets(json, at, until, Number.POSITIVE_INFINITY, open);
    if (open.length === 0) return at;
    if (at >= json.length) throw new JsonScanError('a bracket does not close');
    yield;
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

/** Replaces the value of one member; every other byte stays. */
export function replaceValue(json: Buffer, member: Member, value: unknown): Buffer {
  return replaceValues(json, [member], Buffer.from(JSON.stringify(value)));
}
