import type { Member } from '../lib/json-scan.js';
import { skipString } from '../lib/json-tokens.js';
import { EventLayout, LayoutUse } from '../lib/upstream/event-layout.js';
import { isDataAlone } from '../lib/upstream/sse-event.js';

/**
 * The fast paths through a stream. A node writes all its events in the same layout: once one has been parsed, the position of the
 * model's name is known. An event that differs from an earlier one only in its text takes one comparison; others take a few native
 * searches instead of a scan of every byte.
 */

const QUOTED_MODEL = Buffer.from('"model"');
const QUOTED_ERROR = Buffer.from('"error"');
/** Can't occur inside a string, where its inner quotes would be escaped. */
const CONTENT = Buffer.from('"content":"');
const START_BYTES = 'data: {'.length;
const END_BYTES = '}\n\n'.length;
const SPACE = 0x20;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const COMMA = 0x2c;

/** Finds and replaces the model's name in plain events. */
export class PlainEvents {
  readonly #member: Buffer;
  readonly #rewritten: Buffer;
  /** Whether the node's name of the model is ours already. */
  readonly #same: boolean;
  /** Layout of an earlier plain event. */
  #layout: EventLayout | undefined;
  /** The event up to the end of the name, with our name, and the number of original bytes that it replaces. */
  #head: Buffer | undefined;
  #headBytes = 0;
  readonly #layoutUse = new LayoutUse();

  /** The second parameter is the position of `model` in an event's data; `model` is the JSON value to put there. */
  constructor(data: Buffer, { start, valueStart, end }: Member, model: Buffer) {
    // A slice would keep the whole chunk in memory.
    this.#member = Buffer.from(data.subarray(start, end));
    this.#rewritten = Buffer.concat([data.subarray(start, valueStart), model]);
    this.#same = this.#rewritten.equals(this.#member);
  }

  /** Writes `bytes` to `out` if they have the layout of an earlier event, which makes them a whole event. Returns false if not. */
  takeAlike(bytes: Buffer, out: Buffer[]): boolean {
    const layout = this.#layout;
    if (!layout?.textForm(bytes)) return false;
    if (this.#same) out.push(bytes);
    else out.push(this.#head!, bytes.subarray(this.#headBytes));
    return true;
  }

  /**
   * Writes an event with another layout to `out`. Returns false if the event isn't plain. A plain event is `data: {…}` and a blank
   * line, without an error, with a single `model` before anything nested, so that the field belongs to the object itself. A key can't
   * be inside a string, where its quotes would be escaped.
   */
  take(event: Buffer, out: Buffer[]): boolean {
    if (event[START_BYTES - 2] !== SPACE || event[START_BYTES - 1] !== OPEN_BRACE) return false;
    const end = event.length - END_BYTES;
    if (event[end] !== CLOSE_BRACE || !isDataAlone(event)) return false;
    const at = event.indexOf(this.#member, START_BYTES);
    const behind = at + this.#member.length;
    if (at < 0 || behind > end) return false;
    const before = event[at - 1];
    if ((before !== COMMA && before !== OPEN_BRACE) || !endsMember(event[behind])) return false;
    if (isWithin(event.indexOf(OPEN_BRACE, START_BYTES), at)) return false;
    if (isWithin(event.indexOf(OPEN_BRACKET, START_BYTES), at)) return false;
    if (event.includes(QUOTED_MODEL, behind) || event.includes(QUOTED_ERROR)) return false;
    if (this.#same) out.push(event);
    else out.push(event.subarray(0, at), this.#rewritten, event.subarray(behind));
    this.#note(event, at, behind);
    return true;
  }

  /** Remembers the layout of a plain event around its text. `model` lies between `at` and `behind`. */
  #note(event: Buffer, at: number, behind: number): void {
    if (!this.#layoutUse.isWorthNoting(this.#layout)) return;
    const found = event.indexOf(CONTENT, behind);
    if (found < 0) return;
    const start = found + CONTENT.length - 1;
    const end = stringEnd(event, start);
    if (end < 0) return;
    this.#layout = new EventLayout(event, { start, end });
    this.#head = Buffer.concat([event.subarray(0, at), this.#rewritten]);
    this.#headBytes = behind;
  }
}

/** Offset just past the string that opens at `start`; -1 if it doesn't end, since the event may not be JSON. */
function stringEnd(event: Buffer, start: number): number {
  try {
    return skipString(event, start);
  } catch {
    return -1;
  }
}

const endsMember = (byte: number | undefined): boolean => byte === COMMA || byte === CLOSE_BRACE;
const isWithin = (found: number, end: number): boolean => found >= 0 && found < end;
