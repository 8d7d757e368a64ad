import { skipSpace, skipString } from '../../lib/json-tokens.js';

/** Members of a choice that contain what the model generated. */
const GENERATED = new Set(['delta', 'message']);
/** Members of a choice that are generated text themselves, as in completions. */
const TEXTS = new Set(['content', 'reasoning', 'reasoning_content', 'text']);
/**
 * Members of a delta or a message that aren't generated text. Any other text counts, whatever its name: nodes invent names, and
 * text that isn't counted would be free for a client that leaves.
 */
const NOT_GENERATED = new Set([
  'finish_reason',
  'format',
  'id',
  'index',
  'object',
  'role',
  'signature',
  'tool_call_id',
  'type',
]);

const ERROR = '"error"';

const QUOTE = 0x22;
const COLON = 0x3a;
const LOWER_E = 0x65;
const LOWER_N = 0x6e;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;

/** A JSON string, including its quotes. */
export interface TextPlace {
  start: number;
  end: number;
  /** Bytes of the decoded text. */
  bytes: number;
}

/** The generated texts in a piece of JSON. */
export interface GeneratedText {
  /** Total bytes. Equal texts of one delta or message count once: some nodes send reasoning under two names. */
  bytes: number;
  /** The first text that isn't empty, or else the first one. */
  first: TextPlace | undefined;
  /** Whether anything was generated, even an empty text. */
  filled: boolean;
  /** Whether a member is named `error`. */
  hasErrorKey: boolean;
}

/** Finds the generated texts of the choices between two offsets. The JSON must have been scanned before. */
export function generatedText(json: Buffer, from: number, end: number): GeneratedText {
  const found = new FoundTexts(json);
  for (let at = from; at < end; ) {
    if (json[at] !== QUOTE) {
      at++;
      continue;
    }
    const start = at;
    at = skipString(json, start);
    const value = valueAfter(json, at);
    if (value < 0) continue;
    if (isErrorName(json, start, at)) found.hasErrorKey = true;
    else if (json[value] === OPEN_BRACE) {
      if (GENERATED.has(nameOf(json, start, at))) at = takeMessage(json, value, end, found);
    } else if (json[value] === QUOTE && TEXTS.has(nameOf(json, start, at))) at = found.take(value);
  }
  return found;
}

/** Takes the texts of the object at `from`. Returns the offset just past the object. */
function takeMessage(json: Buffer, from: number, end: number, found: FoundTexts): number {
  found.nextMessage();
  let open = 0;
  for (let at = from; at < end; ) {
    const byte = json[at];
    if (byte !== QUOTE) {
      at++;
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) open++;
      else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --open === 0) return at;
      continue;
    }
    const start = at;
    at = skipString(json, start);
    const value = valueAfter(json, at);
    if (value < 0) {
      found.add(start, at);
      continue;
    }
    if (isErrorName(json, start, at)) found.hasErrorKey = true;
    const kind = json[value];
    if (kind === LOWER_N) continue;
    const counts = !NOT_GENERATED.has(nameOf(json, start, at));
    if (counts) found.filled = true;
    if (kind === QUOTE) at = counts ? found.take(value) : skipString(json, value);
  }
  return end;
}

class FoundTexts implements GeneratedText {
  bytes = 0;
  first: TextPlace | undefined;
  filled = false;
  hasErrorKey = false;
  /** The first text of this message that isn't empty, undecoded. */
  #text = '';
  #others: Set<string> | undefined;

  constructor(private readonly json: Buffer) {}

  /** Begins a message. Only equal texts of one message count once. */
  nextMessage(): void {
    this.#text = '';
    this.#others = undefined;
  }

  /** Adds the string at `start`. Returns the offset just past the string. */
  take(start: number): number {
    const end = skipString(this.json, start);
    this.add(start, end);
    return end;
  }

  add(start: number, end: number): void {
    this.filled = true;
    if (end - start === EMPTY_BYTES) {
      this.first ??= { start, end, bytes: 0 };
      return;
    }
    const { json } = this;
    const raw = json.toString('latin1', start, end);
    if (this.#text === '') this.#text = raw;
    else if (raw === this.#text || this.#others?.has(raw)) return;
    else this.#others = (this.#others ?? new Set()).add(raw);
    const bytes = textBytes(json, start, end, raw.includes('\\'));
    if (!this.first || this.first.bytes === 0) this.first = { start, end, bytes };
    this.bytes += bytes;
  }
}

const EMPTY_BYTES = '""'.length;

/** Offset of the value whose name ends at `end`; -1 if that string isn't a name. */
function valueAfter(json: Buffer, end: number): number {
  const colon = skipSpace(json, end);
  return json[colon] === COLON ? skipSpace(json, colon + 1) : -1;
}

const nameOf = (json: Buffer, start: number, end: number): string =>
  json.toString('latin1', start + 1, end - 1);

/** Whether the name from `start` to `end` is `"error"`. The first letter rules out most others of the same length. */
const isErrorName = (json: Buffer, start: number, end: number): boolean =>
  end - start === ERROR.length &&
  json[start + 1] === LOWER_E &&
  json.toString('latin1', start, end) === ERROR;

/** Decoded bytes of the string from `start` to `end`, quotes included. */
export function textBytes(json: Buffer, start: number, end: number, escaped: boolean): number {
  if (!escaped) return end - start - 2;
  try {
    return Buffer.byteLength(JSON.parse(json.toString('utf8', start, end)) as string);
  } catch {
    return end - start - 2;
  }
}
