import { skipString } from './json-scan.js';

/** An object or array that encloses a value. */
export interface JsonLevel {
  isObject: boolean;
  /** Offsets of the member's key, quotes included, in an object. */
  keyStart: number;
  keyEnd: number;
  /** Position of the element, in an array. */
  index: number;
}

/** Takes a string value with its quotes, and what encloses it, outermost first. */
export type StringVisitor = (levels: readonly JsonLevel[], start: number, end: number) => void;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * Visits each string value inside the object or array that opens at `from`; keys are no values. The JSON must be valid.
 * It pauses after every `partBytes`.
 */
export function* visitStrings(
  json: Buffer,
  from: number,
  partBytes: number,
  visit: StringVisitor,
): Generator<undefined, void> {
  const levels: JsonLevel[] = [];
  let keyNext = false;
  let pauseAt = from + partBytes;
  for (let at = from; at < json.length; at++) {
    if (at > pauseAt) {
      yield;
      pauseAt = at + partBytes;
    }
    const byte = json[at]!;
    if (byte === QUOTE) {
      const end = skipString(json, at);
      if (keyNext) {
        const level = levels.at(-1)!;
        level.keyStart = at;
        level.keyEnd = end;
        keyNext = false;
      } else visit(levels, at, end);
      at = end - 1;
    } else if (byte === COMMA) {
      const level = levels.at(-1)!;
      level.index++;
      keyNext = level.isObject;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      keyNext = byte === OPEN_BRACE;
      levels.push({ isObject: keyNext, keyStart: -1, keyEnd: -1, index: 0 });
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      levels.pop();
      keyNext = false;
      if (levels.length === 0) return;
    }
  }
}
