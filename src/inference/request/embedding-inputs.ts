import { AppError } from '../../errors.js';
import { type Member, skipValue } from '../../lib/json-scan.js';
import { skipSpace } from '../../lib/json-tokens.js';

/** Most inputs of one call, as in OpenAI's API. */
const MAX_INPUTS = 2_048;
/** Numbers of a vector where the call doesn't say. */
const USUAL_DIMENSIONS = 768;
/** An answer is kept until it is paid for, up to 64 MiB, and a number takes 24 bytes at most. */
const MAX_NUMBERS = (64 * 1024 * 1024) / 24;

const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const QUOTE = 0x22;

/**
 * Refuses a call for more embeddings than one answer can hold. The body must be valid JSON and name `input` once.
 * @throws AppError `invalid_body`
 */
export function checkInputs(body: Buffer, members: readonly Member[], dimensions: unknown): void {
  const member = members.find(({ key }) => key === 'input');
  if (!member) return;
  const inputs = countInputs(body, member);
  if (inputs > MAX_INPUTS) {
    const message = `"input" has more than ${MAX_INPUTS.toLocaleString('en-US')} entries. Send them in several requests.`;
    throw new AppError('invalid_body', { message, param: 'input' });
  }
  const each = typeof dimensions === 'number' && dimensions > 0 ? dimensions : USUAL_DIMENSIONS;
  if (inputs * each <= MAX_NUMBERS) return;
  const most = Math.floor(MAX_NUMBERS / each);
  const message =
    most > 0
      ? `With ${each} dimensions, "input" may have at most ${most} entries. Send them in several requests.`
      : `"dimensions" must be at most ${Math.floor(MAX_NUMBERS)}.`;
  throw new AppError('invalid_body', { message, param: most > 0 ? 'input' : 'dimensions' });
}

/** Vectors that an `input` asks for, counted no further than is needed. A list of numbers is one text as tokens. */
function countInputs(json: Buffer, { valueStart }: Member): number {
  if (json[valueStart] !== OPEN_BRACKET) return 1;
  let at = skipSpace(json, valueStart + 1);
  if (json[at] === CLOSE_BRACKET) return 0;
  if (json[at] !== QUOTE && json[at] !== OPEN_BRACKET && json[at] !== OPEN_BRACE) return 1;
  for (let inputs = 1; ; inputs++) {
    at = skipSpace(json, skipValue(json, at));
    if (inputs > MAX_INPUTS || json[at] !== COMMA) return inputs;
    at = skipSpace(json, at + 1);
  }
}
