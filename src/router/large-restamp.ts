import { joinInParts } from '../lib/join-in-parts.js';
import { choicesErrorInParts, scanMembersInParts } from '../lib/json-in-parts.js';
import type { Member } from '../lib/json-scan.js';
import { JsonScanError } from '../lib/json-tokens.js';
import type { Work } from '../lib/turns.js';
import {
  choicesAmong,
  type ErrorSink,
  isError,
  namesAmong,
  stampedParts,
  UpstreamGarbage,
} from './restamp.js';

/**
 * Does what `restampJson` does with an answer that came in pieces, with many pauses.
 * @returns The answer in pieces.
 * @throws UpstreamGarbage, and what `onError` throws
 */
export function* restampInParts(
  pieces: Buffer[],
  bytes: number,
  model: Buffer,
  onError: ErrorSink,
): Work<Buffer[]> {
  const body = yield* joinInParts(pieces, bytes);
  const members = yield* readable(scanMembersInParts(body));
  const error = isError(body, members) ? body : yield* choiceError(body, members);
  return error ? [onError(error)] : stampedParts(body, namesAmong(members), model);
}

function* choiceError(body: Buffer, members: readonly Member[]): Work<Buffer | undefined> {
  const choices = choicesAmong(members);
  return choices && (yield* readable(choicesErrorInParts(body, choices)));
}

/** Does work that reads JSON. @throws UpstreamGarbage when it is none */
function* readable<T>(work: Work<T>): Work<T> {
  try {
    return yield* work;
  } catch (error) {
    const isNone = error instanceof JsonScanError || error instanceof SyntaxError;
    throw isNone ? new UpstreamGarbage('not a JSON object') : error;
  }
}
