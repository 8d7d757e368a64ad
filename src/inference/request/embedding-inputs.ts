import { AppError } from '../../errors.js';
import { countInputs } from '../../lib/embedding-inputs.js';
import type { Member } from '../../lib/json-scan.js';

/** Most inputs of one call, as in OpenAI's API. */
const MAX_INPUTS = 2_048;
/** Assumed numbers of a vector if the request doesn't set `dimensions`. */
const USUAL_DIMENSIONS = 768;
/** Whole answers may have 64 MiB, and a number takes at most 24 bytes. */
const MAX_NUMBERS = (64 * 1024 * 1024) / 24;

/**
 * Refuses a request for more embeddings than one answer can hold. The body must be valid JSON with `input` only once.
 * @returns The number of inputs.
 * @throws AppError `invalid_body`
 */
export function checkInputs(body: Buffer, members: readonly Member[], dimensions: unknown): number {
  const member = members.find(({ key }) => key === 'input');
  if (!member) return 0;
  const inputs = countInputs(body, member, MAX_INPUTS);
  if (inputs === 0)
    throw new AppError('invalid_body', { message: '"input" must not be empty.', param: 'input' });
  if (inputs > MAX_INPUTS) {
    const message = `"input" has more than ${MAX_INPUTS.toLocaleString('en-US')} entries. Send them in several requests.`;
    throw new AppError('invalid_body', { message, param: 'input' });
  }
  const each = typeof dimensions === 'number' && dimensions > 0 ? dimensions : USUAL_DIMENSIONS;
  if (inputs * each <= MAX_NUMBERS) return inputs;
  const most = Math.floor(MAX_NUMBERS / each);
  const message =
    most > 0
      ? `With ${each} dimensions, "input" may have at most ${most} entries. Send them in several requests.`
      : `"dimensions" must be at most ${Math.floor(MAX_NUMBERS)}.`;
  throw new AppError('invalid_body', { message, param: most > 0 ? 'input' : 'dimensions' });
}
