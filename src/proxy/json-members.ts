/** Where the value of a top-level member stands in the bytes of a JSON object: `body.subarray(start, end)`. */
export interface Member {
  name: string;
  start: number;
  end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
/** Strings longer than this are crossed by native search. */
const SHORT_STRING_BYTES = 48;

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

function skipSpace(body: Buffer, from: number): number {
  let at = from;
  while (isSpace(body[at])) at++;
  return at;
}

/** Index after the closing quote of the string that opens at `from`, or -1 when it doesn't close. */
function skipString(body: Buffer, from: number): number {
  let at = from + 1;
  for (const near = Math.min(body.length, at + SHORT_STRING_BYTES); at < near; at++) {
    const byte = body[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at++;
  }
  for (;;) {
    const quote = body.indexOf(QUOTE, at);
    if (quote < 0) return -1;
    let slashes = 0;
    while (quote - 1 - slashes >= at && body[quote - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

/** Index after the object or array that opens at `from`, or -1 when it doesn't close. */
function skipNested(body: Buffer, from: number): number {
  let depth = 0;
  for (let at = from; at < body.length; at++) {
    switch (body[at]) {
      case QUOTE:
        at = skipString(body, at) - 1;
        if (at < 0) return -1;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth++;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (--depth === 0) return at + 1;
    }
  }
  return -1;
}

/** A letter, digit, `+`, `-` or `.`: what numbers and literals are made of, Python's `NaN` included. */
function isBare(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    byte === 0x2b ||
    byte === 0x2d ||
    byte === 0x2e
  );
}

function skipValue(body: Buffer, from: number): number {
  const first = body[from];
  if (first === QUOTE) return skipString(body, from);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipNested(body, from);
  let at = from;
  while (isBare(body[at])) at++;
  return at === from ? -1 : at;
}

/** The text of a name; one with escapes is decoded, since `"mod\u0065l"` is `model` to every parser. */
function nameOf(body: Buffer, start: number, end: number): string | undefined {
  const inner = body.subarray(start + 1, end - 1);
  if (!inner.includes(BACKSLASH)) return inner.toString('utf8');
  try {
    return JSON.parse(body.toString('utf8', start, end)) as string;
  } catch {
    return undefined;
  }
}

/**
 * Finds the top-level members called `names`, in order and with duplicates, without parsing or copying the body.
 * Checks structure only (quotes, brackets, commas, nothing after the object), so that a cut body is noticed.
 * @returns undefined when the bytes are no JSON object.
 */
export function findMembers(body: Buffer, names: readonly string[]): Member[] | undefined {
  const found: Member[] = [];
  let at = skipSpace(body, 0);
  if (body[at] !== OPEN_BRACE) return undefined;
  at = skipSpace(body, at + 1);
  if (body[at] === CLOSE_BRACE) return skipSpace(body, at + 1) === body.length ? found : undefined;
  for (;;) {
    if (body[at] !== QUOTE) return undefined;
    const nameEnd = skipString(body, at);
    if (nameEnd < 0) return undefined;
    const name = nameOf(body, at, nameEnd);
    if (name === undefined) return undefined;
    at = skipSpace(body, nameEnd);
    if (body[at] !== COLON) return undefined;
    const start = skipSpace(body, at + 1);
    const end = skipValue(body, start);
    if (end < 0) return undefined;
    if (names.includes(name)) found.push({ name, start, end });
    at = skipSpace(body, end);
    if (body[at] === CLOSE_BRACE) return skipSpace(body, at + 1) === body.length ? found : undefined;
    if (body[at] !== COMMA) return undefined;
    at = skipSpace(body, at + 1);
  }
}

/** The bytes with every given member's value replaced; all other bytes stay. Members are in order. */
export function replaceValues(body: Buffer, members: readonly Member[], value: Buffer): Buffer {
  if (members.length === 0) return body;
  const parts: Buffer[] = [];
  let from = 0;
  for (const { start, end } of members) {
    parts.push(body.subarray(from, start), value);
    from = end;
  }
  parts.push(body.subarray(from));
  return Buffer.concat(parts);
}
