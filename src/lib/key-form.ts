import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * The form of an API key: `sk-pr-`, 40 base62 characters (238 random bits), 6 of checksum. The checksum lets a
 * random key be refused without a look-up.
 */
export const KEY_PREFIX = 'sk-pr-';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BODY_LENGTH = 40;
const CHECKSUM_LENGTH = 6;
export const KEY_LENGTH = KEY_PREFIX.length + BODY_LENGTH + CHECKSUM_LENGTH;
const FORM = /^sk-pr-[0-9A-Za-z]{46}$/;
/** Leading characters that are safe to show. */
const SHOWN_PREFIX_LENGTH = KEY_PREFIX.length + 4;

/** `length` characters of the alphabet without bias: a byte past the last whole run of 62 is thrown away. */
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

/** A new key's full secret. It is shown once and never stored. */
export function newApiKey(): string {
  const body = randomBase62(BODY_LENGTH);
  return KEY_PREFIX + body + checksum(body);
}

/** Whether a text has the exact form of a key, checksum included. */
export function hasKeyForm(text: string): boolean {
  if (!FORM.test(text)) return false;
  const split = KEY_PREFIX.length + BODY_LENGTH;
  return checksum(text.slice(KEY_PREFIX.length, split)) === text.slice(split);
}

/** What may be kept of a key beside its hash. */
export function shownParts(key: string): { prefix: string; lastFour: string } {
  return { prefix: key.slice(0, SHOWN_PREFIX_LENGTH), lastFour: key.slice(-4) };
}
