import fc from './fast-check.js';

const codePoint = fc.oneof(
  fc.integer({ min: 0, max: 0x7f }),
  fc.integer({ min: 0, max: 0xffff }),
  fc.integer({ min: 0x1_0000, max: 0x10_ffff }),
);

/**
 * Any text without lone surrogates. `fc.string({ unit: 'binary' })` makes the same, but first lists a million characters,
 * which takes seconds.
 */
export const anyText = (maxLength = 10): fc.Arbitrary<string> =>
  fc.array(codePoint, { maxLength }).map((points) => String.fromCodePoint(...points).toWellFormed());
