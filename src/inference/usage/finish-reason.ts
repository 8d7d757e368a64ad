import { skipSpace } from '../../lib/json-tokens.js';

const KEY = Buffer.from('"finish_reason"');
const QUOTE = 0x22;
const COLON = 0x3a;

/**
 * Whether a choice between two offsets of scanned JSON has a finish reason; an empty text is none. Generated text can't
 * imitate it: its quotes are escaped.
 */
export function tellsFinish(json: Buffer, from: number, end: number): boolean {
  for (let at = json.indexOf(KEY, from); at >= 0 && at < end; at = json.indexOf(KEY, at + KEY.length)) {
    const colon = skipSpace(json, at + KEY.length);
    if (json[colon] !== COLON) continue;
    const value = skipSpace(json, colon + 1);
    if (json[value] === QUOTE && json[value + 1] !== QUOTE) return true;
  }
  return false;
}
