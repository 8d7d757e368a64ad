/** What the value of an answer's field must look like to pass, judged from its bytes without parsing. */
export type ValueCheck = (json: Buffer, from: number, end: number) => boolean;

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const ZERO = 0x30;
const NINE = 0x39;

/** Letters, digits, `_` and `-`. Without dots, colons and slashes it is no address, and hardly a host's full name. */
const PLAIN = new Uint8Array(256);
for (const byte of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-')) {
  PLAIN[byte] = 1;
}

const isNull: ValueCheck = (json, from, end) =>
  end - from === 4 &&
  json[from] === 0x6e &&
  json[from + 1] === 0x75 &&
  json[from + 2] === 0x6c &&
  json[from + 3] === 0x6c;

/** A text of plain characters, from one up to the given number. */
export const plainToken =
  (most: number): ValueCheck =>
  (json, from, end) => {
    const last = end - 1;
    const length = last - from - 1;
    if (length < 1 || length > most || json[from] !== QUOTE || json[last] !== QUOTE) return false;
    for (let at = from + 1; at < last; at++) if (PLAIN[json[at]!] === 0) return false;
    return true;
  };

/** The same, or null. */
export const plainTokenOrNull = (most: number): ValueCheck => {
  const isToken = plainToken(most);
  return (json, from, end) => isNull(json, from, end) || isToken(json, from, end);
};

/** This text, spelt as every encoder spells it. */
export const exactly = (text: string): ValueCheck => {
  const bytes = Buffer.from(JSON.stringify(text));
  return (json, from, end) => {
    if (end - from !== bytes.length) return false;
    for (let i = 0; i < bytes.length; i++) if (json[from + i] !== bytes[i]) return false;
    return true;
  };
};

/** A whole number without a sign, as of a time in seconds or milliseconds. */
export const wholeNumber: ValueCheck = (json, from, end) => {
  if (end - from > 15 || (json[from] === ZERO && end - from > 1)) return false;
  for (let at = from; at < end; at++) if (json[at]! < ZERO || json[at]! > NINE) return false;
  return true;
};

/** An object, an array or null. */
export const containerOrNull: ValueCheck = (json, from, end) =>
  json[from] === OPEN_BRACE || json[from] === OPEN_BRACKET || isNull(json, from, end);

/** An array or null. */
export const arrayOrNull: ValueCheck = (json, from, end) =>
  json[from] === OPEN_BRACKET || isNull(json, from, end);
