import type { JsonJob } from '../lib/json-reader.js';
import { findMembers, type Member, replacedParts } from '../lib/json-scan.js';
import { skipSpace } from '../lib/json-tokens.js';
import { choicesErrorIn } from '../lib/upstream/choices-error.js';
import { saysError } from '../lib/upstream/error-member.js';
import { eventData, isDone, otherLines, withData } from '../lib/upstream/sse-event.js';
import { SseSplitter, type WholeEventSink } from '../lib/upstream/sse-splitter.js';
import { PlainEvents } from './plain-event.js';

const MEMBERS = ['model', 'error', 'object', 'choices'];
const NAME = Buffer.from('"model":');
const COMMA = Buffer.from(',');
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const LINE_END = Buffer.from('\n');
const DATA = Buffer.from('data: ');
const EVENT_END = Buffer.from('\n\n');

/** The node sent something that isn't an answer; nothing of it may be forwarded. */
export class UpstreamGarbage extends Error {
  override name = 'UpstreamGarbage';
}

/** The value of `model` as JSON bytes. */
export const modelValue = (publicName: string): Buffer => Buffer.from(JSON.stringify(publicName));

/** Takes an object with an error and returns its replacement; or throws, and nothing is forwarded. */
export type ErrorSink = (payload: Buffer) => Buffer;

/**
 * A JSON object with its top-level `model` replaced, or put in front where there is none; every other byte stays. One that carries an
 * error goes to `onError`.
 * @throws UpstreamGarbage when the bytes are no JSON object.
 */
export function restampJson(body: Buffer, model: Buffer, onError: ErrorSink): Buffer {
  const members = membersOf(body);
  const error = errorIn(body, members);
  return error ? onError(error) : Buffer.concat(stampedParts(body, namesAmong(members), model));
}

/** What a whole answer is: restamped, an error that it or one of its choices reports, or no answer. */
export type Restamped = { kind: 'answer' | 'error'; body: Buffer } | { kind: 'garbage' };

/** Restamps a whole answer. */
export const RESTAMP: JsonJob<{ body: Buffer; model: string }, Restamped> = {
  name: 'restamp',
  run({ body, model }) {
    let error: Buffer | undefined;
    try {
      const restamped = restampJson(body, modelValue(model), (payload) => {
        error = payload;
        return payload;
      });
      return error ? { kind: 'error', body: error } : { kind: 'answer', body: restamped };
    } catch (thrown) {
      if (thrown instanceof UpstreamGarbage) return { kind: 'garbage' };
      throw thrown;
    }
  },
};

/** The members that count here. @throws UpstreamGarbage */
function membersOf(body: Buffer): Member[] {
  const members = findMembers(body, MEMBERS);
  if (!members) throw new UpstreamGarbage('not a JSON object');
  return members;
}

/** The error that an object is, or that one of its choices carries. @throws UpstreamGarbage */
function errorIn(body: Buffer, members: readonly Member[]): Buffer | undefined {
  if (isError(body, members)) return body;
  const choices = choicesAmong(members);
  try {
    return choices && choicesErrorIn(body, choices);
  } catch {
    throw new UpstreamGarbage('not JSON');
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
 * event leaves when its blank line has arrived; one that carries an error goes to `onError` first. Events without data
 * in front of the first with data are left out: a node may send comments although its model hangs, and whoever has got
 * one can't be answered by another node any more.
 */
export class SseRestamper implements WholeEventSink {
  /** Whether `[DONE]` has arrived: without it, a stream counts as broken off, however cleanly it closed. */
  complete = false;
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
  ) {
    this.#model = modelValue(publicName);
  }

  /**
   * Puts what may leave now into `out`, in pieces.
   * @returns Whether an event with data was among it.
   * @throws UpstreamGarbage, AnswerTooLargeError
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

  /** The same of what is left when the stream has ended. @throws UpstreamGarbage when that is within an event's JSON */
  end(out: Buffer[]): boolean {
    this.#movedOn = false;
    const { rest } = this.#splitter;
    if (!rest) return false;
    const { length } = out;
    this.#stamp(Buffer.concat([rest, LINE_END]), out);
    // The end of a line that had none.
    if (out.length > length) out.push(out.pop()!.subarray(0, -LINE_END.length));
    return this.#movedOn;
  }

  readonly #take = (event: Buffer): void => this.#stamp(event, this.#out);

  #stamp(event: Buffer, out: Buffer[]): void {
    if (this.#plain?.take(event, out)) {
      this.#movedOn = true;
      return;
    }
    const data = eventData(event);
    if (!data || data.length === 0) {
      this.#stampRest(event, out);
      return;
    }
    out.push(...withData(event, data, this.#stampData(data)));
    this.#begun = true;
    this.#movedOn = true;
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

  /** The payload of an event in pieces, restamped. */
  #stampData(data: Buffer): Buffer[] {
    if (isDone(data)) {
      this.complete = true;
      return [data];
    }
    const members = membersOf(data);
    const error = eventError(data, members);
    if (error) return [this.onError(error)];
    const names = namesAmong(members);
    const [name] = names;
    if (name && names.length === 1) this.#plain ??= new PlainEvents(data, name, this.#model);
    return stampedParts(data, names, this.#model);
  }
}
