import { skipString } from '../../lib/json-tokens.js';

/** An object or array that encloses a value. */
export interface JsonLevel {
  isObject: boolean;
  /** Offset of its bracket. */
  start: number;
  /** Offsets of the member's key with its quotes, in an object. */
  keyStart: number;
  keyEnd: number;
  /** Index of the element, in an array. */
  index: number;
  /** State that the visitor set for the member that holds this object or array. */
  outer: number;
  /** State that the visitor set for the current member; the same as `outer` in an array. */
  state: number;
}

/** Receives keys and string values with their quotes, and the enclosing levels, outermost first. Level objects are reused. */
export interface JsonVisitor {
  /** Called for each key, whose offsets are in the last level. May set that level's `state`. */
  key(levels: readonly JsonLevel[]): void;
  string(levels: readonly JsonLevel[], start: number, end: number): void;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** Visits each key and each string value inside the object or array that opens at `from`. The JSON must be valid. */
export function visitStrings(json: Buffer, from: number, visitor: JsonVisitor): void {
  const levels: JsonLevel[] = [];
  const spare: JsonLevel[] = [];
  let keyNext = false;
  for (let at = from; at < json.length; at++) {
    const byte = json[at]!;
    if (byte === QUOTE) {
      const end = skipString(json, at);
      if (keyNext) {
        keyNext = false;
        const level = levels.at(-1)!;
        level.keyStart = at;
        level.keyEnd = end;
        level.state = level.outer;
        visitor.key(levels);
      } else visitor.string(levels, at, end);
      at = end - 1;
    } else if (byte === COMMA) {
      const level = levels.at(-1)!;
      level.index++;
      keyNext = level.isObject;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      keyNext = byte === OPEN_BRACE;
      const level = spare.pop() ?? newLevel();
      level.isObject = keyNext;
      level.start = at;
      level.index = 0;
      level.outer = level.state = levels.at(-1)?.state ?? 0;
      levels.push(level);
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      spare.push(levels.pop()!);
      keyNext = false;
      if (levels.length === 0) return;
    }
  }
}

const newLevel = (): JsonLevel => ({
  isObject: false,
  start: 0,
  keyStart: 0,
  keyEnd: 0,
  index: 0,
  outer: 0,
  state: 0,
});
