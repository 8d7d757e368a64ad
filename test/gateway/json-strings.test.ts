import { type JsonLevel, visitStrings } from '../../src/inference/request/json-strings.js';
import { readKey } from '../../src/lib/json-tokens.js';
import fc from '../support/fast-check.js';

type Found = [path: string, text: string];

/** Every string of a value with its path. */
function stringsOf(value: unknown, path = ''): Found[] {
  if (typeof value === 'string') return [[path, value]];
  if (Array.isArray(value)) return value.flatMap((one, at) => stringsOf(one, `${path}[${at}]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => stringsOf(one, `${path}.${key}`));
}

/** Every key of a value, in order. */
function keysOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(keysOf);
  return Object.entries(value).flatMap(([key, one]) => [key, ...keysOf(one)]);
}

function visited(json: Buffer): { found: Found[]; keys: string[] } {
  const found: Found[] = [];
  const step = ({ isObject, keyStart, keyEnd, index }: JsonLevel): string =>
    isObject ? `.${readKey(json, keyStart, keyEnd)}` : `[${index}]`;
  const keys: string[] = [];
  visitStrings(json, json.indexOf('{'), {
    key: (levels) => {
      const level = levels.at(-1)!;
      expect(level.state).toBe(level.outer);
      // Each level counts the enclosing keys, including its own.
      level.state = level.outer + 1;
      keys.push(readKey(json, level.keyStart, level.keyEnd));
    },
    string: (levels, start, end) => {
      expect(levels.at(-1)!.state).toBe(levels.filter(({ isObject }) => isObject).length);
      found.push([levels.map(step).join(''), readKey(json, start, end)]);
    },
  });
  return { found, keys };
}

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('"', '\\', '{', '],[', '":', '\\"'));
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.constantFrom(null, true, 1.5, -2e9),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(text, tie('any'), { maxKeys: 4 }),
  ),
})).any;

describe('the strings of a piece of JSON', () => {
  test('are visited with their positions, with and without white space', () => {
    fc.assert(
      fc.property(fc.dictionary(text, value), fc.constantFrom(0, 2), (object, room) => {
        const json = Buffer.from(` ${JSON.stringify(object, null, room)},"behind":"it"`);
        const { found, keys } = visited(json);
        expect(keys).toEqual(keysOf(object));
        expect(found).toEqual(stringsOf(object));
      }),
      { numRuns: 1_000 },
    );
  });

  test('take one call per key and string at any depth', () => {
    const calls = (depth: number): number => {
      let count = 0;
      const texts = JSON.stringify(Array.from({ length: 500 }, () => ''));
      const json = Buffer.from(`${`{"${'k'.repeat(500)}":`.repeat(depth)}${texts}${'}'.repeat(depth)}`);
      const visitor = { key: () => void count++, string: () => void count++ };
      visitStrings(json, 0, visitor);
      return count;
    };
    expect([1, 10, 60].map(calls)).toEqual([501, 510, 560]);
  });
});
