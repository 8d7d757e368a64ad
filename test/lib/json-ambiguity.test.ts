import { jsonAmbiguity } from '../../src/lib/json-ambiguity.js';
import { anyText } from '../support/any-text.js';
import fc from '../support/fast-check.js';
import { threadTimeMs } from '../support/thread-time.js';

const nested = (depth: number, open: string, close: string): string =>
  open.repeat(depth) + close.repeat(depth);

describe('ambiguous JSON', () => {
  test.each([
    ['a name twice', '{"a":1,"a":2}'],
    ['a name twice, far apart', '{"a":{"a":1},"b":["a","a"],"a":2}'],
    ['one of them escaped', '{"model":1,"mod\\u0065l":2}'],
    ['both escaped, differently', '{"\\u0061":1,"\\u{0061}":2}'.replace('\\u{0061}', 'a')],
    ['below an object', '{"x":{"a":1,"a":1}}'],
    ['below an array', '[[{"a":1},{"b":1,"b":1}]]'],
    ['with a quote in the name', '{"a\\"":1,"a\\"":2}'],
    ['with a backslash at its end', '{"a\\\\":1,"a\\\\":2}'],
    ['the empty name', '{"":1,"":2}'],
    ['names that objects are born with', '{"__proto__":1,"__proto__":2}'],
  ])('is detected by %s', (_what, text) => {
    expect(jsonAmbiguity(text)).toMatch(/appears twice/);
  });

  test('is detected by its depth, from 65 levels on', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      expect(jsonAmbiguity(nested(64, open, close).replace(':}', ':1}'))).toBeUndefined();
      expect(jsonAmbiguity(nested(65, open, close).replace(':}', ':1}'))).toMatch(/64 levels/);
    }
  });

  test('is never written by JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 1, '\t'), (value, indent) => {
        expect(jsonAmbiguity(JSON.stringify(value, null, indent))).toBeUndefined();
      }),
    );
  });

  test('is detected wherever an object has a duplicate member', () => {
    const object = fc.dictionary(anyText(), fc.jsonValue(), { minKeys: 1 });
    fc.assert(
      fc.property(object, fc.nat(), (value, which) => {
        const names = Object.keys(value);
        const name = names[which % names.length]!;
        const text = `[1,{"x":${JSON.stringify(value).replace(/\}$/, () => `,${JSON.stringify(name)}:0}`)}}]`;
        expect(jsonAmbiguity(text)).toMatch(/appears twice/);
      }),
    );
  });

  test('is checked in one pass: a megabyte of names, brackets or escapes takes linear time', () => {
    const names = `{${Array.from({ length: 80_000 }, (_, i) => `"k${i}":1`).join()}}`;
    const escapes = `{"a":"${'\\\\'.repeat(500_000)}"}`;
    const quotes = `["${'\\"'.repeat(500_000)}"]`;
    const flat = `[${'[],'.repeat(300_000)}[]]`;
    for (const text of [names, escapes, quotes, flat]) {
      const started = threadTimeMs();
      expect(jsonAmbiguity(text)).toBeUndefined();
      expect(threadTimeMs() - started).toBeLessThan(500);
    }
  });
});
