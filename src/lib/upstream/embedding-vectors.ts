import { eachElement, type Member, scanObject, skipValue } from '../json-scan.js';
import { skipSpace } from '../json-tokens.js';

const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const QUOTE = 0x22;
const COMMA = 0x2c;
/** A shorter number without an exponent fits a float32. */
const LONGEST_PLAIN_NUMBER = 38;
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const FLOAT32_BYTES = 4;

/**
 * Whether the array `data` of an embeddings answer has exactly one vector of finite numbers per input: a list of numbers, or base64 of
 * float32 values. With `inputs` 0 their number is unknown, and at least one vector is required. Each `index` must occur once.
 * @throws JsonScanError
 */
export function areWholeVectors(json: Buffer, data: Member, inputs: number): boolean {
  const indexes = new Set<number>();
  let valid = true;
  let count = 0;
  eachElement(json, data.valueStart, (start) => {
    count++;
    if (!valid || json[start] !== OPEN_BRACE) {
      valid = false;
      return skipValue(json, start);
    }
    const { members, end } = scanObject(json, start);
    const index = members.findLast(({ key }) => key === 'index');
    const vector = members.findLast(({ key }) => key === 'embedding');
    const place = index ? Number(json.toString('latin1', index.valueStart, index.end)) : Number.NaN;
    valid = Number.isInteger(place) && place >= 0 && !indexes.has(place);
    indexes.add(place);
    valid &&= vector !== undefined && isVector(json, vector);
    return end;
  });
  return valid && count > 0 && (inputs === 0 || count === inputs) && [...indexes].every((one) => one < count);
}

function isVector(json: Buffer, { valueStart, end }: Member): boolean {
  if (json[valueStart] === OPEN_BRACKET) return isListOfFloats(json, valueStart, end);
  return json[valueStart] === QUOTE && isFiniteBase64(json.toString('latin1', valueStart + 1, end - 1));
}

function isListOfFloats(json: Buffer, from: number, end: number): boolean {
  for (let at = from + 1; ; at++) {
    at = skipSpace(json, at);
    const start = at;
    let simple = true;
    for (; at < end; at++) {
      const byte = json[at]!;
      if (byte === COMMA || byte === CLOSE_BRACKET || byte <= 0x20) break;
      simple &&= PLAIN[byte] === 1;
    }
    if (at === start) return false;
    if ((!simple || at - start > LONGEST_PLAIN_NUMBER) && !isFloat32(json.toString('latin1', start, at)))
      return false;
    at = skipSpace(json, at);
    if (json[at] !== COMMA) return json[at] === CLOSE_BRACKET && at === end - 1;
  }
}

/** Bytes of a number without an exponent. */
const PLAIN = new Uint8Array(256);
for (const byte of Buffer.from('-.0123456789')) PLAIN[byte] = 1;

const isFloat32 = (text: string): boolean => NUMBER.test(text) && Number.isFinite(Math.fround(Number(text)));

function isFiniteBase64(text: string): boolean {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 0 || bytes.length % FLOAT32_BYTES !== 0) return false;
  for (let at = 2; at < bytes.length; at += FLOAT32_BYTES) {
    // NaN and infinity have all bits of the exponent set.
    if ((bytes[at]! & 0x80) !== 0 && (bytes[at + 1]! & 0x7f) === 0x7f) return false;
  }
  return true;
}
