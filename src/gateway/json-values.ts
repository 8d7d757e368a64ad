import { skipString } from '../lib/json-tokens.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

/**
 * Whether JSON has more than about `most` values, whose number decides how long parsing takes. The structure must have been checked
 * before.
 */
export function hasMoreValues(json: Buffer, most: number): boolean {
  let count = 1;
  for (let at = 0; at < json.length; ) {
    const byte = json[at]!;
    if (byte === QUOTE) {
      at = skipString(json, at);
      continue;
    }
    if ((byte === COMMA || byte === OPEN_BRACE || byte === OPEN_BRACKET) && ++count > most) return true;
    at++;
  }
  return false;
}
