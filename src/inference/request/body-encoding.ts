const UTF8 = 'Send JSON in UTF-8.';
const in16 = (order: string, mark = ''): string => `The body is in UTF-16 (${order} endian${mark}). ${UTF8}`;
const in32 = (order: string, mark = ''): string => `The body is in UTF-32 (${order} endian${mark}). ${UTF8}`;
const MARKED = ', with a byte order mark';

/** First bytes, in hexadecimal, of what clients send in place of JSON in UTF-8. The longest come first. */
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

/** Names the encoding of a body that isn't JSON, as a message. Undefined if the encoding can't be recognized. */
export function encodingFault(body: Buffer): string | undefined {
  const start = body.toString('hex', 0, MOST_BYTES);
  return BEGINNINGS.find(([bytes]) => start.startsWith(bytes))?.[1];
}

/** Bytes in a body whose beginning looks right. */
export const NOT_UTF8 =
  'The body is not valid UTF-8. Encode it as UTF-8 instead of ISO-8859-1, Windows-1252 or another character set.';
