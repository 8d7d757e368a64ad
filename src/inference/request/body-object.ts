import { isUtf8 } from 'node:buffer';
import { AppError } from '../../errors.js';
import type { Member } from '../../lib/json-scan.js';
import { JsonScanError } from '../../lib/json-tokens.js';
import { checkedMembers } from '../json-check.js';

const MAX_DEPTH = 64;
/** Most members at the top level, each of which is checked. The API has about forty. */
const MAX_MEMBERS = 1_024;

const UTF8 = 'Send JSON in UTF-8.';
const in16 = (order: string, mark = ''): string => `The body is in UTF-16 (${order} endian${mark}). ${UTF8}`;
const in32 = (order: string, mark = ''): string => `The body is in UTF-32 (${order} endian${mark}). ${UTF8}`;
const MARKED = ', with a byte order mark';

/** First bytes, in hexadecimal, of bodies that aren't JSON in UTF-8. The longest come first. */
const BEGINNINGS: readonly (readonly [string, string])[] = [
  ['fffe0000', in32('little', MARKED)],
  ['0000feff', in32('big', MARKED)],
  ['7b000000', in32('little')],
  ['0000007b', in32('big')],
  ['28b52ffd', `The body is compressed (zstd). Send it uncompressed.`],
  ['efbbbf', 'The body begins with a byte order mark. Send JSON in UTF-8 without it.'],
  ['fffe', in16('little', MARKED)],
  ['feff', in16('big', MARKED)],
  ['7b00', in16('little')],
  ['007b', in16('big')],
  ['1f8b', 'The body is compressed (gzip). Send it uncompressed.'],
];
const MOST_BYTES = 4;

/** The message for a body in another encoding; undefined if the encoding can't be recognized. */
function encodingFault(body: Buffer): string | undefined {
  const start = body.toString('hex', 0, MOST_BYTES);
  return BEGINNINGS.find(([bytes]) => start.startsWith(bytes))?.[1];
}

/** The message for a body that begins like UTF-8 and isn't. */
const NOT_UTF8 =
  'The body is not valid UTF-8. Encode it as UTF-8 instead of ISO-8859-1, Windows-1252 or another character set.';

const invalid = (message: string, param?: string): AppError =>
  new AppError('invalid_body', { message, param });

/** Names that a body may contain only once, each with a separate bit. */
type OnceNames = ReadonlyMap<string, number>;

/** @param names At most 31, since each gets a bit. */
export const onceNames = (names: readonly string[]): OnceNames =>
  new Map(names.map((name, bit) => [name, 1 << bit]));

/**
 * Reads the members of a body: a JSON object in UTF-8 that isn't nested too deeply and has each of `once` at most once.
 * @throws AppError `invalid_body`
 */
export function objectMembers(body: Buffer, once: OnceNames): Member[] {
  const members = membersOf(body);
  checkOnce(members, once);
  if (!isUtf8(body)) throw invalid(NOT_UTF8);
  return members;
}

function membersOf(body: Buffer): Member[] {
  try {
    return checkedMembers(body, MAX_DEPTH, MAX_MEMBERS);
  } catch (error) {
    if (!(error instanceof JsonScanError)) throw error;
    throw invalid(encodingFault(body) ?? `The body is not a valid JSON object: ${error.message}.`);
  }
}

function checkOnce(members: Member[], once: OnceNames): void {
  let seen = 0;
  for (const { key } of members) {
    const bit = once.get(key);
    if (bit === undefined) continue;
    if ((seen & bit) !== 0) throw invalid(`The body contains "${key}" more than once.`, key);
    seen |= bit;
  }
}

/** Creates the same check for a body that is parsed as a whole, with at most 31 `names` that it may contain only once. */
export function createWholeCheck(names: readonly string[]): (body: Buffer) => void {
  const once = onceNames(names);
  return (body) => void objectMembers(body, once);
}
