import { joinInParts } from '../../lib/join-in-parts.js';
import { type Member, memberValue, scanMembersInParts } from '../../lib/json-scan.js';
import type { Work } from '../../lib/turns.js';
import { choiceError, eachChoice, namesErrorInParts } from '../../lib/upstream/choices-error.js';
import type { CallInput, Success } from '../call.js';
import { encodingOf } from '../embeddings/embedding-encoding.js';
import { convertInParts } from '../embeddings/large-embeddings.js';
import { messageBytes } from '../usage/generated-text.js';
import { estimateTokens, readUsage } from '../usage/usage.js';
import { type AnswerForm, CHAT, EMBEDDINGS } from './answer-forms.js';
import {
  GarbageError,
  passesAsItCame,
  rebuiltParts,
  type SortedAnswer,
  ToldError,
} from './answer-members.js';
import { tellUsage } from './told-usage.js';

const OPEN_BRACKET = 0x5b;

/** What reading a large answer asks of its relay. */
export interface LargeAnswerContext {
  /** Sorts the members out. @throws when the answer is an error */
  sort(body: Buffer, members: Member[], form: AnswerForm): SortedAnswer;
  /** Counts bytes kept in addition to the answer. */
  grow(bytes: number): void;
  /** Returns bytes that are no longer kept. */
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
  const sorted = context.sort(body, scanned, endpoint === 'chat' ? CHAT : EMBEDDINGS);
  const { members, served } = sorted;
  const { content, usage: told } = members;
  if (!content || body[content.valueStart] !== OPEN_BRACKET) throw new GarbageError();
  const usage = told && memberValue(body, told);
  tellUsage(body, members, usage);
  const { valueStart, end } = content;
  let output = 0;
  if (
    endpoint === 'chat' &&
    (!readUsage(usage, endpoint) || (yield* namesErrorInParts(body, valueStart, end)))
  )
    output = yield* readChoices(body, valueStart);
  const success: Success = { usage, servedModel: served, estimateOutput: () => output };
  if (endpoint === 'embeddings') {
    const have = encodingOf(body.subarray(valueStart, end));
    if (have !== undefined && have !== asked.encoding) {
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
  const parts = passesAsItCame(sorted) ? [body] : rebuiltParts(body, members, served).parts;
  return { parts, success };
}

/**
 * Estimated tokens of the choices in the array that begins at `from`, which may take up most of the answer.
 * @throws ToldError when one of them is a failure
 */
function* readChoices(body: Buffer, from: number): Work<number> {
  let bytes = 0;
  yield* eachChoice(body, from, (members) => {
    const told = choiceError(body, members);
    if (told) throw new ToldError(told);
    const message = members.findLast(({ key }) => key === 'message');
    if (message) bytes += messageBytes(body, message.valueStart, message.end);
  });
  return estimateTokens(bytes);
}
