/**
 * The short way through a stream. Nodes write all their events alike: once one has been read in full, it is known how
 * the model's name stands in them, and the next ones need a few native searches instead of a walk over every byte.
 */

const NEWLINE = 0x0a;
const QUOTED_MODEL = Buffer.from('"model"');
const START = Buffer.from('data: {');
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const COMMA = 0x2c;

/** Finds and replaces the name in events that are plain. */
export class PlainEvents {
  readonly #member: Buffer;
  readonly #stamped: Buffer;

  /** `member` is key and value as the node writes them, `stamped` what stands there afterwards. */
  constructor(member: Buffer, stamped: Buffer) {
    // A slice would keep the whole chunk that it was found in.
    this.#member = Buffer.from(member);
    this.#stamped = stamped;
  }

  /**
   * Puts the event at `from` into `out` and gives the offset behind it; -1 when it isn't plain: `data: {…}` and a blank
   * line, the one member of that name before anything nested, so that it is the object's own. No key can stand within a
   * string, where its quotes would be escaped.
   */
  take(chunk: Buffer, from: number, out: Buffer[], maxBytes: number): number {
    if (!startsPlainly(chunk, from)) return -1;
    const end = chunk.indexOf(NEWLINE, from);
    if (end < 0 || chunk[end + 1] !== NEWLINE || chunk[end - 1] !== CLOSE_BRACE) return -1;
    const at = chunk.indexOf(this.#member, from);
    const behind = at + this.#member.length;
    if (at < 0 || behind >= end || end - from > maxBytes) return -1;
    const before = chunk[at - 1];
    if ((before !== COMMA && before !== OPEN_BRACE) || !endsMember(chunk[behind])) return -1;
    if (within(chunk.indexOf(OPEN_BRACE, from + START.length), at)) return -1;
    if (within(chunk.indexOf(OPEN_BRACKET, from + START.length), at)) return -1;
    if (within(chunk.indexOf(QUOTED_MODEL, behind), end)) return -1;
    const next = end + 2;
    out.push(chunk.subarray(from, at), this.#stamped, chunk.subarray(behind, next));
    return next;
  }
}

function startsPlainly(chunk: Buffer, from: number): boolean {
  for (let i = 0; i < START.length; i++) if (chunk[from + i] !== START[i]) return false;
  return true;
}

const endsMember = (byte: number | undefined): boolean => byte === COMMA || byte === CLOSE_BRACE;
const within = (found: number, end: number): boolean => found >= 0 && found < end;
