import { checkedMembers } from '../../src/inference/json-check.js';
import { scanMembers } from '../../src/lib/json-scan.js';
import { JsonScanError } from '../../src/lib/json-tokens.js';
import { anyText } from '../support/any-text.js';
import fc from '../support/fast-check.js';

const read = (text: string | Buffer, maxDepth = 64, maxMembers = 1_000) =>
  checkedMembers(Buffer.from(text as string, 'latin1'), maxDepth, maxMembers);

/** The result of JSON.parse for the same bytes, which has no limit of depth. */
function parses(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function taken(text: string): boolean {
  try {
    read(text, 1_000, 1e6);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(JsonScanError);
    return false;
  }
}

const objectText = fc
  .tuple(fc.dictionary(anyText(), fc.jsonValue()), fc.constantFrom(0, 1, '\t'))
  .map(([value, indent]) => Buffer.from(JSON.stringify(value, null, indent)).toString('latin1'));

describe('the JSON check', () => {
  test('accepts all JSON that JSON.parse accepts, with the same members as the scanner', () => {
    fc.assert(
      fc.property(objectText, (text) => {
        expect(read(text, 64, 1e6)).toEqual(scanMembers(Buffer.from(text, 'latin1')));
      }),
    );
  });

  test('agrees with JSON.parse on damaged JSON', () => {
    const pieces = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        '"',
        ',',
        ':',
        '\\',
        '\\u',
        '\\u00e9',
        '\\x',
        ' ',
        '\n',
        '\u0000',
        '\u001f',
        '\u007f',
      ],
      ...[
        '0',
        '01',
        '-',
        '-0',
        '1.',
        '.5',
        '1.5',
        '1e',
        '1E+2',
        '1e-',
        '+1',
        'true',
        'tru',
        'false',
        'null',
        'nul',
      ],
      ...['NaN', 'Infinity', '"a":1', '"a"', 'é', '\ufeff'.slice(1), '/**/', "'"],
    );
    fc.assert(
      fc.property(objectText, fc.nat(), fc.nat(3), pieces, (text, where, length, piece) => {
        const at = where % (text.length + 1);
        const damaged = text.slice(0, at) + piece + text.slice(at + length);
        expect([damaged, taken(damaged)]).toEqual([damaged, parses(damaged)]);
      }),
      { numRuns: 3_000 },
    );
  });

  test('agrees with JSON.parse on texts of random pieces', () => {
    const bytes = fc.array(fc.constantFrom(...'{}[]":,\\ au01-.eE+tfn'), { maxLength: 25 });
    fc.assert(
      fc.property(bytes, (list) => {
        const text = `{${list.join('')}`;
        expect([text, taken(text)]).toEqual([text, parses(text)]);
      }),
      { numRuns: 3_000 },
    );
  });

  test('limits the depth and the number of members', () => {
    const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
    expect(read(nested(64))).toHaveLength(1);
    expect(() => read(nested(65))).toThrow('64 levels');
    expect(() => read(`{"a":${'{"b":'.repeat(64)}1${'}'.repeat(64)}}`)).toThrow('64 levels');
    const wide = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join()}}`;
    expect(read(wide(1_000))).toHaveLength(1_000);
    expect(() => read(wide(1_001))).toThrow('1000 members');
  });
});
