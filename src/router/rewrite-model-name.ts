import type { JsonJob } from '../lib/json-reader.js';
import { findMembers, type Member, replacedParts } from '../lib/json-scan.js';
import { JsonScanError, skipSpace } from '../lib/json-tokens.js';
import { choicesErrorIn } from '../lib/upstream/choices-error.js';
import { areWholeVectors } from '../lib/upstream/embedding-vectors.js';
import { saysError } from '../lib/upstream/error-member.js';
import { FinishedChoices, tellsFinish } from '../lib/upstream/finish-reason.js';
import { COMMENT_EVENT, eventData, isDone, otherLines, withData } from '../lib/upstream/sse-event.js';
import { SseSplitter, type WholeEventSink } from '../lib/upstream/sse-splitter.js';
import { PlainEvents } from './plain-event.js';
import type { ProxyRequest } from './request.js';

const MEMBERS = ['model', 'error', 'object', 'choices', 'usage', 'data'];
const NAME = Buffer.from('"model":');
const COMMA = Buffer.from(',');
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const DATA = Buffer.from('data: ');
const EVENT_END = Buffer.from('\n\n');
const DONE_EVENT = Buffer.from('data: [DONE]\n\n');

/** The node sent something that isn't an answer, so nothing may be forwarded. */
export class MalformedResponseError extends Error {
  override name = 'MalformedResponseError';
}

/** The value of `model` as JSON bytes. */
export const modelValue = (publicName: string): Buffer => Buffer.from(JSON.stringify(publicName));

/** Returns the replacement of an error object, or throws so that nothing is forwarded. */
export type ErrorSink = (payload: Buffer) => Buffer;

/** A whole answer with our model name, or the error that the answer or one of its choices reports. */
export type RenamedAnswer = { kind: 'answer' | 'error'; body: Buffer } | { kind: 'malformed' };

/** A whole answer with what its caller requested. */
interface AnswerToRewrite extends Pick<ProxyRequest, 'path' | 'answers'> {
  body: Buffer;
  model: string;
}

/** Rewrites the model name of a whole answer. An answer that lacks what was requested is malformed, so another node is tried. */
export const REWRITE_MODEL_NAME: JsonJob<AnswerToRewrite, RenamedAnswer> = {
  name: 'rewrite-model-name',
  run({ body, model, path, answers }) {
    try {
      const members = membersOf(body);
      const error = errorIn(body, members);
      if (error) return { kind: 'error', body: error };
      const isWhole = path === '/embeddings' ? hasVectors(body, members, answers) : hasChoice(body, members);
      if (!isWhole) return { kind: 'malformed' };
      return {
        kind: 'answer',
        body: Buffer.concat(rewrittenParts(body, modelMembers(members), modelValue(model))),
      };
    } catch (thrown) {
      if (thrown instanceof MalformedResponseError || thrown instanceof JsonScanError)
        return { kind: 'malformed' };
      throw thrown;
    }
  },
};

function hasChoice(body: Buffer, members: readonly Member[]): boolean {
  const choices = choicesMember(members);
  if (!choices || body[choices.valueStart] !== OPEN_BRACKET) return false;
  return body[skipSpace(body, choices.valueStart + 1)] !== CLOSE_BRACKET;
}

/** @throws JsonScanError */
function hasVectors(body: Buffer, members: readonly Member[], inputs: number): boolean {
  const data = members.findLast(({ key }) => key === 'data');
  return data !== undefined && areWholeVectors(body, data, inputs);
}

/** The object's members of interest. @throws MalformedResponseError */
function membersOf(body: Buffer): Member[] {
  const members = findMembers(body, MEMBERS);
  if (!members) throw new MalformedResponseError('not a JSON object');
  return members;
}

/** The error that an answer is, or that one of its choices reports. @throws MalformedResponseError */
function errorIn(body: Buffer, members: readonly Member[]): Buffer | undefined {
  if (isError(body, members)) return body;
  const choices = choicesMember(members);
  try {
    return choices && choicesErrorIn(body, choices);
  } catch {
    throw new MalformedResponseError('not JSON');
  }
}

/** The error in an event. An event that can't be parsed is left to the edge, which may know its format. */
function eventError(data: Buffer, members: readonly Member[]): Buffer | undefined {
  try {
    return errorIn(data, members);
  } catch {
    return undefined;
  }
}

const isError = (body: Buffer, members: readonly Member[]): boolean =>
  members.some((member) => saysError(body, member));

/** The member `choices`; the last one if there are several. */
const choicesMember = (members: readonly Member[]): Member | undefined =>
  members.findLast(({ key }) => key === 'choices');

const modelMembers = (members: readonly Member[]): Member[] => members.filter(({ key }) => key === 'model');

/**
 * The object in pieces, with `model` as the value of each of `names`. Without names, a member is added in front: the edge would
 * take an unnamed answer for one of the requested model and charge that model's price.
 */
function rewrittenParts(json: Buffer, names: readonly Member[], model: Buffer): Buffer[] {
  if (names.length > 0) return replacedParts(json, names, model);
  const at = json.indexOf(OPEN_BRACE) + 1;
  const between = json[skipSpace(json, at)] === CLOSE_BRACE ? [] : [COMMA];
  return [json.subarray(0, at), NAME, model, ...between, json.subarray(at)];
}

/**
 * Rewrites `model` in every event of an SSE stream. Comments, other fields, `[DONE]` and line ends are unchanged. An event is
 * forwarded when its blank line has arrived; an error goes through `onError` first. An event with other JSON than a chunk's, such as
 * `{"type":"ping"}`, becomes a comment. Events without data before the first event with data are dropped: a node may send comments
 * although its model hangs, and after a forwarded byte no other node can be tried.
 */
export class SseModelNameRewriter implements WholeEventSink {
  /** Whether `[DONE]` has arrived, or the stream ended with all choices finished. */
  complete = false;
  /** Whether a chunk of the answer has arrived. */
  answered = false;
  /** Events with data so far. */
  events = 0;
  readonly #finished: FinishedChoices;
  readonly #model: Buffer;
  readonly #splitter = new SseSplitter();
  #begun = false;
  /** Whether the last push contained an event with data. */
  #movedOn = false;
  /** Set once an event has been parsed. */
  #plain: PlainEvents | undefined;
  #out: Buffer[] = [];

  constructor(
    publicName: string,
    private readonly onError: ErrorSink,
    choices = 1,
  ) {
    this.#finished = new FinishedChoices(choices);
    this.#model = modelValue(publicName);
  }

  /**
   * Adds the bytes to forward to `out`, in pieces.
   * @returns Whether they contain an event with data.
   * @throws MalformedResponseError, AnswerTooLargeError
   */
  push(chunk: Buffer, out: Buffer[]): boolean {
    this.#movedOn = false;
    this.#out = out;
    this.#splitter.push(chunk, this.#take, this);
    return this.#movedOn;
  }

  takeWhole(bytes: Buffer): boolean {
    if (!this.#plain?.takeAlike(bytes, this.#out)) return false;
    this.#moveOn();
    return true;
  }

  /**
   * Adds the remaining bytes to `out` after a clean end of the stream. Completes a last event without a blank line, and adds a missing
   * `[DONE]` if all choices are finished.
   * @returns Whether the bytes contain an event with data.
   * @throws MalformedResponseError if the stream ended inside an event's JSON
   */
  end(out: Buffer[]): boolean {
    this.#movedOn = false;
    const { rest } = this.#splitter;
    if (rest) this.#rewrite(Buffer.concat([rest, EVENT_END]), out);
    if (this.complete || !this.#finished.all) return this.#movedOn;
    out.push(DONE_EVENT);
    this.complete = true;
    return true;
  }

  readonly #take = (event: Buffer): void => this.#rewrite(event, this.#out);

  #rewrite(event: Buffer, out: Buffer[]): void {
    if (this.#plain?.takeAlike(event, out)) {
      this.#moveOn();
      return;
    }
    if (!this.#finished.all && tellsFinish(event, 0, event.length)) this.#noteFinish(event);
    if (this.#plain?.take(event, out)) {
      this.#moveOn();
      return;
    }
    const data = eventData(event);
    if (!data || data.length === 0) {
      this.#rewriteWithoutData(event, out);
      return;
    }
    const rewritten = this.#rewriteData(data);
    if (!rewritten) {
      if (this.#begun) out.push(COMMENT_EVENT);
      return;
    }
    out.push(...withData(event, data, rewritten));
    this.#begun = true;
    this.#moveOn();
  }

  #moveOn(): void {
    this.#movedOn = true;
    this.events++;
  }

  #noteFinish(event: Buffer): void {
    const data = eventData(event);
    const choices = data && choicesMember(findMembers(data, MEMBERS) ?? []);
    if (choices) this.#finished.note(data, choices);
  }

  /** Handles an event without data. An error may be in a field of its own: `error: {…}`. */
  #rewriteWithoutData(event: Buffer, out: Buffer[]): void {
    if (this.#begun) {
      out.push(event);
      return;
    }
    const { error } = otherLines(event);
    if (!error) return;
    out.push(DATA, this.onError(error), EVENT_END);
    this.#begun = true;
    this.#moveOn();
  }

  /** The event's payload in pieces, with our model name; undefined if it isn't part of the answer. */
  #rewriteData(data: Buffer): Buffer[] | undefined {
    if (isDone(data)) {
      this.complete = true;
      return [data];
    }
    const members = membersOf(data);
    const error = eventError(data, members);
    if (error) return [this.onError(error)];
    if (!members.some(({ key }) => key !== 'object' && key !== 'error' && key !== 'data')) return undefined;
    this.answered = true;
    const names = modelMembers(members);
    const [name] = names;
    if (name && names.length === 1) this.#plain ??= new PlainEvents(data, name, this.#model);
    return rewrittenParts(data, names, this.#model);
  }
}
