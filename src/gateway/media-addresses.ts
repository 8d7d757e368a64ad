import { AppError } from '../errors.js';
import { parseDestination, RefusedDestination } from '../lib/egress/destination.js';
import { type Member, readKey } from '../lib/json-scan.js';
import { type JsonLevel, visitStrings } from '../lib/json-strings.js';
import { shownName } from './body-fields.js';

/**
 * Checks the addresses of images, videos, sounds and files in a body: a node fetches them from inside the operator's
 * network. Names aren't resolved here; docs/security.md says what the node itself must not reach.
 */

/** Whether addresses of private networks pass (`MEDIA_ALLOW_PRIVATE`); never link-local ones. */
export interface MediaRules {
  allowPrivate: boolean;
}

/** Members that a node may fetch from. */
const WITH_MEDIA = new Set(['messages', 'input']);
/** Members that hold an address, or an object with one under `url`. */
const ADDRESS_MEMBER = /_ur[il]$/;
const ADDRESS_KEYS = new Set(['url', 'uri']);
/** Keys whose value is data, an identifier or an address with its scheme. */
const MEDIA_KEYS = new Set([
  ...['image', 'images', 'input_image', 'video', 'videos', 'input_video', 'audio', 'audios', 'input_audio'],
  ...['file', 'files', 'file_id', 'file_data', 'input_file', 'document', 'data', 'media', 'source', 'src'],
  ...ADDRESS_KEYS,
]);
/** What a model or a tool said, which nobody fetches. */
const SPOKEN_KEYS = new Set(['tool_calls', 'function_call', 'annotations', 'arguments', 'citations']);
/** A tool's arguments in Anthropic's form. `input` of embeddings is a member of the body and no level. */
const TOOL_INPUT = 'input';

/** Addresses that clouds sign are long. */
const LONGEST_ADDRESS = 8_192;
const LONGEST_SCHEME = 32;
const HAS_SCHEME = /^[a-z][a-z0-9+.-]{0,30}:\//i;
const NO_ADDRESS = 'must be a data: URL, or a URL that begins with http:// or https://';

const QUOTE = 0x22;

/**
 * The check of a body that is valid JSON, to be run to its end; it pauses after every `partBytes` and throws an AppError
 * `invalid_body` that names the place. Undefined where there is nothing to check.
 */
export function mediaCheck(
  body: Buffer,
  members: readonly Member[],
  rules: MediaRules,
  partBytes: number,
): Generator<undefined, void> | undefined {
  const naming = members.filter(
    ({ key, valueStart, end }) =>
      WITH_MEDIA.has(key) && body[valueStart] !== QUOTE && mayNameMedia(body.subarray(valueStart, end)),
  );
  return naming.length > 0 ? checkMembers(body, naming, rules, partBytes) : undefined;
}

function* checkMembers(
  body: Buffer,
  members: readonly Member[],
  rules: MediaRules,
  partBytes: number,
): Generator<undefined, void> {
  for (const { key, valueStart } of members) {
    yield* visitStrings(body, valueStart, partBytes, (levels, start, end) => {
      if (!isMedia(body, levels, start, end)) return;
      const reason = faultOf(body, start, end, rules);
      if (reason === undefined) return;
      const param = key + levels.map((level) => step(body, level)).join('');
      throw new AppError('invalid_body', { message: `"${param}" ${reason}.`, param });
    });
  }
}

/** Ends of keys that hold addresses, and escapes, in which such a key could hide. */
const SIGNS = ['_url"', '_uri"', '\\u00'].map((text) => Buffer.from(text));
/** How an address goes on behind its scheme. */
const BEHIND_SCHEME = [':/', ':\\/'].map((text) => Buffer.from(text));

/** Whether a search finds what `isMedia` could be true for: most calls need no closer look. */
function mayNameMedia(json: Buffer): boolean {
  if (SIGNS.some((sign) => json.includes(sign))) return true;
  return BEHIND_SCHEME.some((sign) => {
    for (let at = json.indexOf(sign); at >= 0; at = json.indexOf(sign, at + 1)) {
      if (beginsString(json, at)) return true;
    }
    return false;
  });
}

/** Whether a string begins with the scheme that ends at `colon`. */
function beginsString(json: Buffer, colon: number): boolean {
  let at = colon - 1;
  for (const first = Math.max(0, colon - LONGEST_SCHEME); at > first && isSchemeByte(json[at]!); ) at--;
  return json[at] === QUOTE;
}

const SCHEME_BYTES = new Uint8Array(256);
for (const byte of Buffer.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-')) {
  SCHEME_BYTES[byte] = 1;
}
const isSchemeByte = (byte: number): boolean => SCHEME_BYTES[byte] === 1;

/** Whether a node may take a text for an address. */
function isMedia(body: Buffer, levels: readonly JsonLevel[], start: number, end: number): boolean {
  const keys = levels.filter(({ isObject }) => isObject).map((level) => keyOf(body, level));
  const name = keys.at(-1);
  if (name === undefined || keys.slice(0, -1).some(isSpoken)) return false;
  if (ADDRESS_MEMBER.test(name)) return true;
  if (ADDRESS_KEYS.has(name) && keys.some((key) => ADDRESS_MEMBER.test(key))) return true;
  return MEDIA_KEYS.has(name) && HAS_SCHEME.test(beginning(body, start, end));
}

const isSpoken = (key: string): boolean => SPOKEN_KEYS.has(key) || key === TOOL_INPUT;

const keyOf = (body: Buffer, { keyStart, keyEnd }: JsonLevel): string => readKey(body, keyStart, keyEnd);

const ESCAPE = /\\(?:u00([0-9a-fA-F]{2})|(\/))/g;

/** The first characters of a text, long enough for a scheme even if each is escaped. */
const beginning = (body: Buffer, start: number, end: number): string =>
  body
    .toString('latin1', start + 1, Math.min(end - 1, start + 1 + 6 * (LONGEST_SCHEME + 2)))
    .replace(ESCAPE, (_all, hex: string | undefined) =>
      hex ? String.fromCharCode(Number.parseInt(hex, 16)) : '/',
    );

/** What is wrong with an address; undefined when nothing is. */
function faultOf(body: Buffer, start: number, end: number, rules: MediaRules): string | undefined {
  // Not decoded: it may have megabytes.
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

/** One step of the path to a value: `[0]` or `.content`. */
const step = (body: Buffer, level: JsonLevel): string =>
  level.isObject ? `.${shownName(keyOf(body, level))}` : `[${level.index}]`;
