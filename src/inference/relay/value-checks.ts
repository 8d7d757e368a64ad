import { parseDestination, RefusedDestination } from '../../lib/egress/destination.js';

/** Whether the value of an answer's member, between two offsets, passes. Most checks look at bytes and don't parse. */
export type ValueCheck = (json: Buffer, from: number, end: number) => boolean;

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const ZERO = 0x30;
const NINE = 0x39;

/** Letters, digits, `_` and `-`. A text without dots, colons and slashes can't be an address, and hardly a host's full name. */
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

/** A text of one to `most` plain characters. */
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

/** Exactly this text, as every encoder writes it. */
export const exactly = (text: string): ValueCheck => {
  const bytes = Buffer.from(JSON.stringify(text));
  return (json, from, end) => {
    if (end - from !== bytes.length) return false;
    for (let i = 0; i < bytes.length; i++) if (json[from + i] !== bytes[i]) return false;
    return true;
  };
};

/** A whole number without a sign, such as a time in seconds or milliseconds. */
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

/** Members of a citation or search result, in Perplexity's form. */
const MEMBERS = new Set(['url', 'title', 'date', 'last_updated', 'snippet', 'source', 'id', 'index']);
/** A longer list is dropped as the upstream's mistake. */
const MOST_BYTES = 256 * 1024;

/**
 * Null, or a list of sources on the public internet: addresses, or objects with a `url`. A model that searches the operator's
 * own network would cite internal pages.
 */
export function isPublicSources(json: Buffer, from: number, end: number): boolean {
  if (end - from > MOST_BYTES) return false;
  try {
    const sources: unknown = JSON.parse(json.toString('utf8', from, end));
    return sources === null || (Array.isArray(sources) && sources.every(isPublicSource));
  } catch {
    return false;
  }
}

function isPublicSource(source: unknown): boolean {
  if (typeof source === 'string') return isPublicUrl(source);
  if (typeof source !== 'object' || source === null) return false;
  const { url, ...others } = source as Record<string, unknown>;
  const isPlain = ([name, value]: [string, unknown]): boolean =>
    MEMBERS.has(name) && (typeof value !== 'object' || value === null);
  return typeof url === 'string' && isPublicUrl(url) && Object.entries(others).every(isPlain);
}

function isPublicUrl(url: string): boolean {
  try {
    parseDestination(url, { allowPrivate: false });
    return true;
  } catch (error) {
    if (error instanceof RefusedDestination) return false;
    throw error;
  }
}
