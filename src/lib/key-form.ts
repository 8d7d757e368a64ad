import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * The format of an API key: `sk-pr-`, 40 base62 characters (238 random bits), and a checksum of 6. Thanks to the checksum, a made-up
 * key is refused without a look-up.
 */
export const KEY_PREFIX = 'sk-pr-';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BODY_LENGTH = 40;
const CHECKSUM_LENGTH = 6;
export const KEY_LENGTH = KEY_PREFIX.length + BODY_LENGTH + CHECKSUM_LENGTH;
const FORM = /^sk-pr-[0-9A-Za-z]{46}$/;
/** Leading characters that are safe to show. */
const SHOWN_PREFIX_LENGTH = KEY_PREFIX.length + 4;

/** `length` random characters without bias: bytes past the last multiple of 62 are dropped. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
    }
  }
  return text;
}

function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    text = ALPHABET[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** A new key in full. It is shown once and never stored. */
export function newApiKey(): string {
  const body = randomBase62(BODY_LENGTH);
  return KEY_PREFIX + body + checksum(body);
}

/** Whether a text has the format of a key and a valid checksum. */
export function hasKeyForm(text: string): boolean {
  if (!FORM.test(text)) return false;
  const split = KEY_PREFIX.length + BODY_LENGTH;
  return checksum(text.slice(KEY_PREFIX.length, split)) === text.slice(split);
}

/** The parts of a key that may be stored and shown. */
export function shownParts(key: string): { prefix: string; lastFour: string } {
  return { prefix: key.slice(0, SHOWN_PREFIX_LENGTH), lastFour: key.slice(-4) };
}
