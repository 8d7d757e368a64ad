import { findMembers, type Member, replacedParts } from '../lib/json-scan.js';
import { skipSpace } from '../lib/json-tokens.js';
import { saysError } from '../lib/upstream/error-member.js';
import { eventData, isDone, otherLines, withData } from '../lib/upstream/sse-event.js';
import { SseSplitter } from '../lib/upstream/sse-splitter.js';
import { PlainEvents } from './plain-event.js';

const MEMBERS = ['model', 'error', 'object'];
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
  const found = namesIn(body);
  return found === 'error' ? onError(body) : Buffer.concat(stampedParts(body, found, model));
}

/** The members that name the model; `error` when the object carries one. @throws UpstreamGarbage */
function namesIn(body: Buffer): Member[] | 'error' {
  const members = findMembers(body, MEMBERS);
  if (!members) throw new UpstreamGarbage('not a JSON object');
  return namesAmong(body, members);
}

/** The same of an object whose members are known. */
export function namesAmong(body: Buffer, members: readonly Member[]): Member[] | 'error' {
  if (members.some((member) => saysError(body, member))) return 'error';
  return members.filter(({ key }) => key === 'model');
}

/**
 * An object in pieces, with `model` as the value of `names`, or of a member in front of all others if there are none: the edge
 * takes an answer without a name for one of the model that was asked for, and charges its price.
 */
export function stampedParts(json: Buffer, names: readonly Member[], model: Buffer): Buffer[] {
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
export class SseRestamper {
  /** Whether `[DONE]` has arrived: without it, a stream counts as broken off, however cleanly it closed. */
  complete = false;
  readonly #model: Buffer;
  readonly #splitter = new SseSplitter();
  #begun = false;
  /** Whether an event with data was among what came last. */
  #movedOn = false;
  /** Known once an event has been read in full. */
  #plain: PlainEvents | undefined;

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
    this.#splitter.push(chunk, (event) => this.#stamp(event, out));
    return this.#movedOn;
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
    const found = namesIn(data);
    if (found === 'error') return [this.onError(data)];
    const [name] = found;
    if (name && found.length === 1) this.#plain ??= new PlainEvents(data, name, this.#model);
    return stampedParts(data, found, this.#model);
  }
}
