import { joinInParts } from '../lib/join-in-parts.js';
import { eachElement, scanMembersInParts, scanObjectInParts, skipValueInParts } from '../lib/json-parts.js';
import { type Member, memberValue } from '../lib/json-scan.js';
import type { Work } from '../lib/turns.js';
import { encodingOf } from '../upstream/embedding-encoding.js';
import { convertInParts } from '../upstream/large-embeddings.js';
import { estimateTokens, readUsage } from '../upstream/usage.js';
import { messageBytes } from './answer-estimate.js';
import {
  CHAT_MEMBERS,
  EMBEDDINGS_MEMBERS,
  GarbageError,
  type KnownMembers,
  rebuiltParts,
  type SortedAnswer,
} from './answer-members.js';
import type { CallInput, Success } from './call.js';

/** Larger answers are read in turns, so that others are served in between. */
export const LARGE_ANSWER_BYTES = 256 * 1024;

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

/** What reading a large answer asks of its relay. */
export interface LargeAnswerContext {
  /** Sorts the members out. @throws when the answer is an error */
  sort(body: Buffer, members: Member[], known: KnownMembers): SortedAnswer;
  /** Counts bytes that are kept beside the answer. @throws AppError when there is no room */
  grow(bytes: number): void;
  /** Gives back bytes that are kept no more. */
  shrink(bytes: number): void;
}

export interface LargeAnswer {
  /** What the client gets, in pieces. */
  parts: Buffer[];
  success: Success;
}

/**
 * Reads an answer of many megabytes, and prepares what the client gets, with many pauses. Content is scanned and not
 * parsed, unless the answer has no usage to charge by.
 * @throws GarbageError, JsonScanError, SyntaxError, and what the context throws
 */
export function* readLargeAnswer(
  pieces: Buffer[],
  bytes: number,
  { endpoint, body: asked }: Pick<CallInput, 'endpoint' | 'body'>,
  context: LargeAnswerContext,
): Work<LargeAnswer> {
  const body = yield* joinInParts(pieces, bytes);
  const scanned = yield* scanMembersInParts(body);
  const known = endpoint === 'chat' ? CHAT_MEMBERS : EMBEDDINGS_MEMBERS;
  const { members, served, asItCame } = context.sort(body, scanned, known);
  const { content, usage: told } = members;
  if (!content || body[content.valueStart] !== OPEN_BRACKET) throw new GarbageError();
  const usage = told && memberValue(body, told);
  let output = 0;
  if (endpoint === 'chat' && !readUsage(usage, endpoint))
    output = yield* estimateInParts(body, content.valueStart);
  const success: Success = { usage, servedModel: served, estimateOutput: () => output };
  if (endpoint === 'embeddings') {
    const have = encodingOf(body.subarray(content.valueStart, content.end));
    if (have !== undefined && have !== asked.encoding) {
      const { valueStart, end } = content;
      const converted = yield* convertInParts(body, valueStart, end, asked.encoding, context.grow);
      const { parts } = rebuiltParts(body, members, served, converted);
      context.shrink(bytes);
      // A slice would keep all of the former answer.
      return {
        parts: parts.map((part) => (part.buffer === body.buffer ? Buffer.from(part) : part)),
        success,
      };
    }
  }
  return { parts: asItCame ? [body] : rebuiltParts(body, members, served).parts, success };
}

/** Tokens of the choices in the array that begins at `from`, which may take up most of the answer. */
function* estimateInParts(body: Buffer, from: number): Work<number> {
  let bytes = 0;
  yield* eachElement(body, from, function* (start) {
    if (body[start] !== OPEN_BRACE) return yield* skipValueInParts(body, start);
    const choice = yield* scanObjectInParts(body, start);
    const message = choice.members.findLast(({ key }) => key === 'message');
    if (message) bytes += messageBytes(JSON.parse(body.toString('latin1', message.valueStart, message.end)));
    return choice.end;
  });
  return estimateTokens(bytes);
}
