import { parseDestination, RefusedDestination } from '../../lib/egress/destination.js';
import { readKey } from '../../lib/json-tokens.js';

/**
 * Checks addresses of images, videos, sounds and files, which a node fetches from inside the operator's network. Host names
 * aren't resolved here; docs/security.md lists what nodes must not be able to reach.
 */

export interface MediaRules {
  /** Whether addresses of private networks pass (`MEDIA_ALLOW_PRIVATE`). Link-local addresses never do. */
  allowPrivate: boolean;
}

/** Long enough for addresses signed by cloud storage. */
const LONGEST_ADDRESS = 8_192;
const NO_ADDRESS = 'must be a data: URL, or a URL that starts with http:// or https://';

/** Number of characters that suffice to distinguish an address from data. */
const BEGINNING = 34;
const LONGEST_ESCAPE = 6;
const ESCAPE = /\\(?:u00([0-9a-fA-F]{2})|([/tnrbf\\]))/g;
const ESCAPED: Record<string, string> = { t: '\t', n: '\n', r: '\r', b: '\b', f: '\f' };
/** A scheme with a slash, a scheme that works without one, a relative path, or only characters that parsers strip. */
const LIKE_ADDRESS =
  /^[\0- ]*(?:[a-z][a-z0-9+.-]{0,30}:[\\/]|(?:https?|ftp|file|wss?|s3|gs):|[\0- ]{32})|^[\0- ]*(?:\.{1,2}|~)[\\/]/i;
const ROOT_PATH = /^[\0- ]*[\\/]/;
/** A longer text that begins with a slash is base64: that of every JPEG does. */
const LONGEST_PATH = 1_024;

/** Whether a text that may be an identifier or data is a URL or a path. `isData`: it may be base64. */
export function isLikeAddress(body: Buffer, start: number, end: number, isData: boolean): boolean {
  const text = beginning(body, start, end);
  if (LIKE_ADDRESS.test(text)) return true;
  return !isData && end - start <= LONGEST_PATH && ROOT_PATH.test(text);
}

/** The first characters of a text as URL parsers read them: without line breaks and tabs. */
const beginning = (body: Buffer, start: number, end: number): string =>
  body
    .toString('latin1', start + 1, Math.min(end - 1, start + 1 + LONGEST_ESCAPE * BEGINNING))
    .replace(ESCAPE, (_all, hex: string | undefined, letter: string) =>
      hex ? String.fromCharCode(Number.parseInt(hex, 16)) : (ESCAPED[letter] ?? letter),
    )
    .replace(/[\t\n\r]/g, '');

/** What is wrong with an address; undefined if it passes. */
export function faultOfAddress(
  body: Buffer,
  start: number,
  end: number,
  rules: MediaRules,
): string | undefined {
  // Don't decode the value, which may have megabytes.
  if (/^"data:/i.test(body.toString('latin1', start, start + 6))) return undefined;
  if (end - start > LONGEST_ADDRESS) return `must have at most ${LONGEST_ADDRESS} characters`;
  const address = readKey(body, start, end);
  if (!/^https?:\/\//i.test(address)) return NO_ADDRESS;
  try {
    parseDestination(address, { ...rules, maxLength: LONGEST_ADDRESS });
    return undefined;
  } catch (error) {
    if (error instanceof RefusedDestination) return error.reason;
    throw error;
  }
}
