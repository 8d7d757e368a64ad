import type { JsonJob } from '../../lib/json-reader.js';
import { type Member, memberText, memberValue } from '../../lib/json-scan.js';
import { skipSpace } from '../../lib/json-tokens.js';
import { choicesErrorIn } from '../../lib/upstream/choices-error.js';
import { areWholeVectors } from '../../lib/upstream/embedding-vectors.js';
import type { Endpoint } from '../../metering/usage-record.js';
import { convertVectors, type EmbeddingEncoding, encodingOf } from '../embeddings/embedding-encoding.js';
import { checkedMembers } from '../json-check.js';
import { generatedText } from '../usage/generated-text.js';
import { estimateTokens, readUsage } from '../usage/usage.js';
import { CHAT, EMBEDDINGS } from './answer-forms.js';
import { droppedCount, readAnswer, rebuildAnswer } from './answer-members.js';
import { reportUsage } from './reported-usage.js';

/** A whole answer of the upstream, with all that is needed to read it. */
export interface AnswerToRead {
  body: Buffer;
  endpoint: Endpoint;
  /** The requested encoding of vectors. */
  encoding: EmbeddingEncoding;
  /** The requested number of vectors; 0 if unknown. */
  inputs: number;
  callId: string;
  /** The public name of the called model. */
  model: string;
  /** The public names of all models that may have served the call. */
  models: ReadonlySet<string>;
  /** The most bytes that the answer may have after a conversion. */
  mostBytes: number;
}

/** The result of reading a whole answer. */
export type AnswerRead =
  | {
      kind: 'answer';
      /** What the client gets: the members that pass, under the name of the model that served. */
      body: Buffer;
      /** The upstream's `usage`, unchecked. */
      usage: unknown;
      servedModel: string;
      /** Estimated from the answer's texts; 0 if `usage` reports output tokens. */
      outputTokens: number;
      /** Number of members and values that don't pass. */
      dropped: number;
    }
  /** The upstream reported an error, regardless of its status. */
  | { kind: 'error'; body: Buffer }
  | { kind: 'malformed' }
  /** After the conversion, the answer is larger than `mostBytes`. */
  | { kind: 'too_large' };

/** The job of the worker thread that reads a whole answer. */
export const READ_ANSWER: JsonJob<AnswerToRead, AnswerRead> = {
  name: 'answer',
  run(input) {
    try {
      return read(input);
    } catch {
      // Not JSON, or not an answer's JSON.
      return { kind: 'malformed' };
    }
  },
};

const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

const hasElement = (json: Buffer, { valueStart }: Member): boolean =>
  json[skipSpace(json, valueStart + 1)] !== CLOSE_BRACKET;

/** @throws JsonScanError, SyntaxError */
function read({
  body,
  endpoint,
  encoding,
  inputs,
  callId,
  model,
  models,
  mostBytes,
}: AnswerToRead): AnswerRead {
  const isChat = endpoint === 'chat';
  const members = readAnswer(body, checkedMembers(body), isChat ? CHAT : EMBEDDINGS, callId);
  if (members.isError) return { kind: 'error', body };
  const { content } = members;
  if (!content || body[content.valueStart] !== OPEN_BRACKET) return { kind: 'malformed' };
  const error = isChat ? choicesErrorIn(body, content) : undefined;
  if (error) return { kind: 'error', body: error };
  const isWhole = isChat ? hasElement(body, content) : areWholeVectors(body, content, inputs);
  if (!isWhole) return { kind: 'malformed' };
  const dropped = droppedCount(members);
  const named = members.model && memberText(body, members.model);
  const servedModel = named !== undefined && models.has(named) ? named : model;
  const usage = members.usage && memberValue(body, members.usage);
  reportUsage(body, members, usage);
  const outputTokens =
    isChat && !readUsage(usage, endpoint)?.outputTokens
      ? estimateTokens(generatedText(body, content.valueStart, content.end).bytes)
      : 0;
  const vectors = isChat ? undefined : converted(body, content, encoding, mostBytes);
  if (vectors === null) return { kind: 'too_large' };
  const passes = droppedCount(members) === 0 && (!members.model || named === servedModel) && !vectors;
  return {
    kind: 'answer',
    body: passes ? body : rebuildAnswer(body, members, servedModel, vectors).json,
    usage,
    servedModel,
    outputTokens,
    dropped,
  };
}

/** The vectors in the requested encoding; undefined if they already have it; null if the result is too large. */
function converted(
  body: Buffer,
  { valueStart, end }: Member,
  wanted: EmbeddingEncoding,
  mostBytes: number,
): Buffer[] | undefined | null {
  const have = encodingOf(body.subarray(valueStart, end));
  return have === undefined || have === wanted
    ? undefined
    : convertVectors(body, valueStart, end, wanted, mostBytes);
}
