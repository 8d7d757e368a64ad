import { hasKeyForm, newApiKey, shownParts } from '../../src/lib/key-form.js';
import fc from '../support/fast-check.js';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('the format of an API key', () => {
  test('matches every new key', () => {
    for (let i = 0; i < 500; i++) expect(hasKeyForm(newApiKey())).toBe(true);
  });

  test("doesn't match a key with any single character changed", () => {
    fc.assert(
      fc.property(fc.integer({ min: 6, max: 51 }), fc.integer({ min: 1, max: 61 }), (position, shift) => {
        const key = newApiKey();
        const other = ALPHABET[(ALPHABET.indexOf(key[position]!) + shift) % 62]!;
        return !hasKeyForm(key.slice(0, position) + other + key.slice(position + 1));
      }),
    );
  });

  test("doesn't match arbitrary text", () => {
    fc.assert(fc.property(fc.string(), (text) => !hasKeyForm(text)));
    fc.assert(fc.property(fc.string(), (text) => !hasKeyForm(newApiKey() + text) || text === ''));
    fc.assert(
      fc.property(fc.constantFrom(' ', '\t', '\n', '\0'), (space) => !hasKeyForm(space + newApiKey())),
    );
  });

  test('hides the secret in the shown parts of a key', () => {
    const key = newApiKey();
    const { prefix, lastFour } = shownParts(key);
    expect(key.startsWith(prefix)).toBe(true);
    expect(prefix.length + lastFour.length).toBeLessThanOrEqual(14);
  });
});
