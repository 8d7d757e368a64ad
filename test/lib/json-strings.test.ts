import fc from 'fast-check';
import { readKey } from '../../src/lib/json-scan.js';
import { type JsonLevel, visitStrings } from '../../src/lib/json-strings.js';

type Found = [path: string, text: string];

/** Every string of a value with its path. */
function stringsOf(value: unknown, path = ''): Found[] {
  if (typeof value === 'string') return [[path, value]];
  if (Array.isArray(value)) return value.flatMap((one, at) => stringsOf(one, `${path}[${at}]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => stringsOf(one, `${path}.${key}`));
}

function visited(json: Buffer, partBytes: number): { found: Found[]; pauses: number } {
  const found: Found[] = [];
  const step = ({ isObject, keyStart, keyEnd, index }: JsonLevel): string =>
    isObject ? `.${readKey(json, keyStart, keyEnd)}` : `[${index}]`;
  const walk = visitStrings(json, json.indexOf('{'), partBytes, (levels, start, end) => {
    found.push([levels.map(step).join(''), readKey(json, start, end)]);
  });
  let pauses = 0;
  while (!walk.next().done) pauses++;
  return { found, pauses };
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
  test('are those of the value, each with its place, with and without pauses and room', () => {
    fc.assert(
      fc.property(
        fc.dictionary(text, value),
        fc.constantFrom(0, 2),
        fc.constantFrom(3, 1e9),
        (object, room, part) => {
          const json = Buffer.from(` ${JSON.stringify(object, null, room)},"behind":"it"`);
          const { found, pauses } = visited(json, part);
          expect(found).toEqual(stringsOf(object));
          if (part > json.length) expect(pauses).toBe(0);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('are visited in parts', () => {
    const json = Buffer.from(JSON.stringify({ a: Array.from({ length: 1_000 }, () => 'text') }));
    const { found, pauses } = visited(json, 1_000);
    expect(found).toHaveLength(1_000);
    expect(pauses).toBeGreaterThanOrEqual(5);
  });
});
