import { memberValue, scanMembers } from '../../src/lib/json-scan.js';
import { JsonScanError } from '../../src/lib/json-tokens.js';
import { anyText } from '../support/any-text.js';
import fc from '../support/fast-check.js';

/** Any JSON object as text, with white space where JSON allows it. */
const objectText = fc
  .tuple(fc.dictionary(anyText(), fc.jsonValue()), fc.constantFrom(0, 1, 3))
  .map(([value, indent]) => ({ value, text: JSON.stringify(value, null, indent) }));

describe('the members of a JSON object', () => {
  test('are the ones that JSON.parse finds, with their byte ranges', () => {
    fc.assert(
      fc.property(objectText, ({ text }) => {
        const json = Buffer.from(text);
        const seen = Object.fromEntries(
          scanMembers(json).map((member) => [member.key, memberValue(json, member)]),
        );
        expect(seen).toEqual(JSON.parse(text));
      }),
    );
  });

  test('are not found in a truncated text', () => {
    fc.assert(
      fc.property(objectText, fc.nat(), ({ text }, cut) => {
        const json = Buffer.from(text.trimEnd());
        expect(() => scanMembers(json.subarray(0, cut % json.length))).toThrow(JsonScanError);
      }),
    );
  });

  test('are found or refused, and nothing else is thrown for any text', () => {
    const bytes = fc.array(fc.constantFrom(...Buffer.from('{}[]":,\\ a1\n\xff', 'latin1')), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(bytes, (list) => {
        const json = Buffer.from(list);
        let scanned: unknown;
        try {
          scanned = scanMembers(json);
        } catch (error) {
          expect(error).toBeInstanceOf(JsonScanError);
        }
        // The scanner accepts every object that JSON.parse accepts, so no text is read by only one of them.
        let parsed: unknown;
        try {
          parsed = JSON.parse(json.toString());
        } catch {}
        if (parsed && typeof parsed === 'object' && !Array.isArray(parsed)) expect(scanned).toBeDefined();
      }),
      { numRuns: 3000 },
    );
  });

  test('are all reported if they have the same name', () => {
    expect(scanMembers(Buffer.from('{"a":1,"\\u0061":2}')).map((member) => member.key)).toEqual(['a', 'a']);
  });

  test('may be nested up to the limit and no deeper', () => {
    const nested = (depth: number) => Buffer.from(`{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`);
    expect(scanMembers(nested(64))).toHaveLength(1);
    expect(() => scanMembers(nested(65))).toThrow('deeper');
  });
});
