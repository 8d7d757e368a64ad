import { skipSpace, skipString } from '../lib/json-scan.js';

/** Members of choices and deltas that hold generated text. */
const GENERATED = new Set([
  'content',
  'reasoning_content',
  'reasoning',
  'refusal',
  'arguments',
  'name',
  'text',
]);
/** The length rules out most other names. */
const LENGTHS = new Set([...GENERATED].map((name) => name.length));

const ERROR = '"error"';

const QUOTE = 0x22;
const COLON = 0x3a;
const LOWER_E = 0x65;

/** A string of JSON, its quotes included. */
export interface TextPlace {
  start: number;
  end: number;
  /** Bytes of the text that it stands for. */
  bytes: number;
}

/** The generated texts in a piece of JSON. */
export interface GeneratedText {
  /** Total bytes. Equal texts count once: some nodes send reasoning under two names. */
  bytes: number;
  /** The first one that isn't empty, or else the first one. */
  first: TextPlace | undefined;
  /** Whether something in it is called `error`. */
  saysError: boolean;
}

/** Finds the generated texts between two offsets of JSON that has been scanned before. */
export function generatedText(json: Buffer, from: number, end: number): GeneratedText {
  const found: GeneratedText = { bytes: 0, first: undefined, saysError: false };
  let firstRaw = '';
  let others: Set<string> | undefined;
  for (let at = from; at < end; ) {
    if (json[at] !== QUOTE) {
      at++;
      continue;
    }
    const start = at;
    at = skipString(json, start);
    const value = valueOfGenerated(json, start, at);
    if (value < 0) {
      if (at - start === ERROR.length && isErrorKey(json, start, at)) found.saysError = true;
      continue;
    }
    at = skipString(json, value);
    const raw = json.toString('latin1', value, at);
    const place = { start: value, end: at, bytes: textBytes(json, value, at, raw.includes('\\')) };
    if (!found.first || found.first.bytes === 0) {
      found.first = place;
      firstRaw = raw;
      found.bytes = place.bytes;
    } else if (raw !== firstRaw && !others?.has(raw)) {
      others ??= new Set();
      others.add(raw);
      found.bytes += place.bytes;
    }
  }
  return found;
}

/** Offset of the text whose key is the string from `start` to `end`; -1 when that is no key of generated text. */
function valueOfGenerated(json: Buffer, start: number, end: number): number {
  if (!LENGTHS.has(end - start - 2)) return -1;
  const colon = skipSpace(json, end);
  if (json[colon] !== COLON || !GENERATED.has(json.toString('latin1', start + 1, end - 1))) return -1;
  const value = skipSpace(json, colon + 1);
  return json[value] === QUOTE ? value : -1;
}

/** Whether the string from `start` to `end`, of the length of `"error"`, is that and a key. */
function isErrorKey(json: Buffer, start: number, end: number): boolean {
  // Most strings of this length begin otherwise.
  if (json[start + 1] !== LOWER_E) return false;
  return json.toString('latin1', start, end) === ERROR && json[skipSpace(json, end)] === COLON;
}

/** Decoded bytes of the string from `start` to `end`, quotes included. */
export function textBytes(json: Buffer, start: number, end: number, escaped: boolean): number {
  if (!escaped) return end - start - 2;
  try {
    return Buffer.byteLength(JSON.parse(json.toString('utf8', start, end)) as string);
  } catch {
    return end - start - 2;
  }
}
