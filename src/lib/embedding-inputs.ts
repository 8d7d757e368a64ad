import { type Member, skipValue } from './json-scan.js';
import { skipSpace } from './json-tokens.js';

const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const QUOTE = 0x22;

/**
 * Number of vectors that an `input` requests. Stops counting at `most + 1`. A list of numbers is one text as tokens.
 * @throws JsonScanError
 */
export function countInputs(json: Buffer, { valueStart }: Member, most = Number.POSITIVE_INFINITY): number {
  if (json[valueStart] !== OPEN_BRACKET) return 1;
  let at = skipSpace(json, valueStart + 1);
  if (json[at] === CLOSE_BRACKET) return 0;
  if (json[at] !== QUOTE && json[at] !== OPEN_BRACKET && json[at] !== OPEN_BRACE) return 1;
  for (let inputs = 1; ; inputs++) {
    at = skipSpace(json, skipValue(json, at));
    if (inputs > most || json[at] !== COMMA) return inputs;
    at = skipSpace(json, at + 1);
  }
}
