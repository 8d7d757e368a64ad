import { joinInParts } from '../lib/join-in-parts.js';
import { type Member, scanMembersInParts } from '../lib/json-scan.js';
import { JsonScanError } from '../lib/json-tokens.js';
import type { Work } from '../lib/turns.js';
import { type ErrorSink, namesAmong, stampedParts, UpstreamGarbage } from './restamp.js';

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
  const found = namesAmong(body, yield* membersOf(body));
  return found === 'error' ? [onError(body)] : stampedParts(body, found, model);
}

function* membersOf(body: Buffer): Work<Member[]> {
  try {
    return yield* scanMembersInParts(body);
  } catch (error) {
    throw error instanceof JsonScanError ? new UpstreamGarbage('not a JSON object') : error;
  }
}
