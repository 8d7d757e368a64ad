import type { Member } from '../lib/json-scan.js';
import { isDataAlone } from '../lib/upstream/sse-event.js';

/**
 * The fast path through a stream. Nodes write all their events alike: once one has been parsed, the position of the
 * model's name is known, and the next ones need a few native searches instead of a scan of every byte.
 */

const QUOTED_MODEL = Buffer.from('"model"');
const QUOTED_ERROR = Buffer.from('"error"');
const START_BYTES = 'data: {'.length;
const END_BYTES = '}\n\n'.length;
const SPACE = 0x20;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const COMMA = 0x2c;

/** Finds and replaces the name in events that are plain. */
export class PlainEvents {
  readonly #member: Buffer;
  readonly #stamped: Buffer;

  /** `member` is the name's position in an event's data, and `model` the text to put there. */
  constructor(data: Buffer, { start, valueStart, end }: Member, model: Buffer) {
    // A slice would keep the whole chunk that it was found in.
    this.#member = Buffer.from(data.subarray(start, end));
    this.#stamped = Buffer.concat([data.subarray(start, valueStart), model]);
  }

  /**
   * Writes an event to `out`; false if it isn't plain: `data: {…}` and a blank line, no error, and the single field of
   * that name before anything nested, so that it belongs to the object itself. A key can't be inside a string, where
   * its quotes would be escaped.
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
    out.push(event.subarray(0, at), this.#stamped, event.subarray(behind));
    return true;
  }
}

const endsMember = (byte: number | undefined): boolean => byte === COMMA || byte === CLOSE_BRACE;
const isWithin = (found: number, end: number): boolean => found >= 0 && found < end;
