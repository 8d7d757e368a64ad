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

/** The node sent something that isn't an answer; nothing of it may be forwarded. */
export class MalformedResponseError extends Error {
  override name = 'MalformedResponseError';
}

/** The value of `model` as JSON bytes. */
export const modelValue = (publicName: string): Buffer => Buffer.from(JSON.stringify(publicName));

/** Takes an object with an error and returns its replacement; or throws, and nothing is forwarded. */
export type ErrorSink = (payload: Buffer) => Buffer;

/** What a whole answer is: restamped, an error that it or one of its choices reports, or no answer. */
export type RenamedAnswer = { kind: 'answer' | 'error'; body: Buffer } | { kind: 'garbage' };

/** A whole answer, and what the caller asked for. */
interface AnswerToRestamp extends Pick<ProxyRequest, 'path' | 'answers'> {
  body: Buffer;
  model: string;
}

/** Restamps a whole answer. One that doesn't have what was asked for is garbage, so that another node is tried. */
export const REWRITE_MODEL_NAME: JsonJob<AnswerToRestamp, RenamedAnswer> = {
  name: 'rewrite-model-name',
  run({ body, model, path, answers }) {
    try {
      const members = membersOf(body);
      const error = errorIn(body, members);
      if (error) return { kind: 'error', body: error };
      const isWhole = path === '/embeddings' ? hasVectors(body, members, answers) : hasChoice(body, members);
      if (!isWhole) return { kind: 'garbage' };
      return {
        kind: 'answer',
        body: Buffer.concat(stampedParts(body, namesAmong(members), modelValue(model))),
      };
    } catch (thrown) {
      if (thrown instanceof MalformedResponseError || thrown instanceof JsonScanError)
        return { kind: 'garbage' };
      throw thrown;
    }
  },
};

function hasChoice(body: Buffer, members: readonly Member[]): boolean {
  const choices = choicesAmong(members);
  if (!choices || body[choices.valueStart] !== OPEN_BRACKET) return false;
  return body[skipSpace(body, choices.valueStart + 1)] !== CLOSE_BRACKET;
}

/** @throws JsonScanError */
function hasVectors(body: Buffer, members: readonly Member[], inputs: number): boolean {
  const data = members.findLast(({ key }) => key === 'data');
  return data !== undefined && areWholeVectors(body, data, inputs);
}

/** The members that count here. @throws MalformedResponseError */
function membersOf(body: Buffer): Member[] {
  const members = findMembers(body, MEMBERS);
  if (!members) throw new MalformedResponseError('not a JSON object');
  return members;
}

/** The error that an object is, or that one of its choices carries. @throws MalformedResponseError */
function errorIn(body: Buffer, members: readonly Member[]): Buffer | undefined {
  if (isError(body, members)) return body;
  const choices = choicesAmong(members);
  try {
    return choices && choicesErrorIn(body, choices);
  } catch {
    throw new MalformedResponseError('not JSON');
  }
}

/** The same of an event. One that can't be parsed is left to the edge, which may know its form. */
function eventError(data: Buffer, members: readonly Member[]): Buffer | undefined {
  try {
    return errorIn(data, members);
  } catch {
    return undefined;
  }
}

/** Whether an object is an error by itself. */
const isError = (body: Buffer, members: readonly Member[]): boolean =>
  members.some((member) => saysError(body, member));

/** The choices that count: the last, where there are several. */
const choicesAmong = (members: readonly Member[]): Member | undefined =>
  members.findLast(({ key }) => key === 'choices');

/** The members that name the model. */
const namesAmong = (members: readonly Member[]): Member[] => members.filter(({ key }) => key === 'model');

/**
 * An object in pieces, with `model` as the value of `names`, or of a member in front of all others if there are none: the edge
 * takes an answer without a name for one of the model that was asked for, and charges its price.
 */
function stampedParts(json: Buffer, names: readonly Member[], model: Buffer): Buffer[] {
  if (names.length > 0) return replacedParts(json, names, model);
  const at = json.indexOf(OPEN_BRACE) + 1;
  const between = json[skipSpace(json, at)] === CLOSE_BRACE ? [] : [COMMA];
  return [json.subarray(0, at), NAME, model, ...between, json.subarray(at)];
}

/**
 * Restamps `model` in every event of an SSE stream. Comments, other fields, `[DONE]` and line ends stay as they come. An
 * event leaves when its blank line has arrived; one that carries an error goes to `onError` first. An event of other JSON
 * than a chunk's, such as `{"type":"ping"}`, becomes a comment. Events without data in front of the first with data are
 * left out: a node may send comments although its model hangs, and whoever has got one can't be answered by another node
 * any more.
 */
export class SseModelNameRewriter implements WholeEventSink {
  /** Whether `[DONE]` has arrived, or the stream ended with all of its choices finished. */
  complete = false;
  /** Whether an event other than `[DONE]` has. */
  answered = false;
  readonly #finished: FinishedChoices;
  readonly #model: Buffer;
  readonly #splitter = new SseSplitter();
  #begun = false;
  /** Whether an event with data was among what came last. */
  #movedOn = false;
  /** Known once an event has been read in full. */
  #plain: PlainEvents | undefined;
  /** Where what is pushed goes. */
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
   * Puts what may leave now into `out`, in pieces.
   * @returns Whether an event with data was among it.
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
    this.#movedOn = true;
    return true;
  }

  /**
   * The same of what is left when the stream has ended as it should. The last event may lack its blank line, and a stream
   * of which all choices are finished may lack its `[DONE]`: they are added.
   * @throws MalformedResponseError when it ended within an event's JSON
   */
  end(out: Buffer[]): boolean {
    this.#movedOn = false;
    const { rest } = this.#splitter;
    if (rest) this.#stamp(Buffer.concat([rest, EVENT_END]), out);
    if (this.complete || !this.#finished.all) return this.#movedOn;
    out.push(DONE_EVENT);
    this.complete = true;
    return true;
  }

  readonly #take = (event: Buffer): void => this.#stamp(event, this.#out);

  #stamp(event: Buffer, out: Buffer[]): void {
    if (this.#plain?.takeAlike(event, out)) {
      this.#movedOn = true;
      return;
    }
    if (!this.#finished.all && tellsFinish(event, 0, event.length)) this.#noteFinish(event);
    if (this.#plain?.take(event, out)) {
      this.#movedOn = true;
      return;
    }
    const data = eventData(event);
    if (!data || data.length === 0) {
      this.#stampRest(event, out);
      return;
    }
    const stamped = this.#stampData(data);
    if (!stamped) {
      if (this.#begun) out.push(COMMENT_EVENT);
      return;
    }
    out.push(...withData(event, data, stamped));
    this.#begun = true;
    this.#movedOn = true;
  }

  #noteFinish(event: Buffer): void {
    const data = eventData(event);
    const choices = data && choicesAmong(findMembers(data, MEMBERS) ?? []);
    if (choices) this.#finished.note(data, choices);
  }

  /** An event without data. An error may stand on a line of its own: `error: {…}`. */
  #stampRest(event: Buffer, out: Buffer[]): void {
    if (this.#begun) {
      out.push(event);
      return;
    }
    const { error } = otherLines(event);
    if (!error) return;
    out.push(DATA, this.onError(error), EVENT_END);
    this.#begun = true;
    this.#movedOn = true;
  }

  /** The payload of an event in pieces, restamped; undefined if it is no part of the answer. */
  #stampData(data: Buffer): Buffer[] | undefined {
    if (isDone(data)) {
      this.complete = true;
      return [data];
    }
    const members = membersOf(data);
    const error = eventError(data, members);
    if (error) return [this.onError(error)];
    if (!members.some(({ key }) => key !== 'object' && key !== 'error' && key !== 'data')) return undefined;
    this.answered = true;
    const names = namesAmong(members);
    const [name] = names;
    if (name && names.length === 1) this.#plain ??= new PlainEvents(data, name, this.#model);
    return stampedParts(data, names, this.#model);
  }
}
