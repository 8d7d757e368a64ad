import fc from 'fast-check';
import { joinInParts } from '../../src/lib/join-in-parts.js';
import { eachElement, scanMembersInParts, skipValueInParts } from '../../src/lib/json-parts.js';
import { JsonScanError, scanMembers } from '../../src/lib/json-scan.js';
import type { Work } from '../../src/lib/turns.js';

/** The result of work, and how often it paused. */
function finish<T>(work: Work<T>): { result: T; pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const step = work.next();
    if (step.done) return { result: step.value, pauses };
  }
}

const outcomeOf = (scan: () => unknown): unknown => {
  try {
    return scan();
  } catch (error) {
    if (error instanceof JsonScanError) return 'refused';
    throw error;
  }
};

describe('JSON that is scanned in parts', () => {
  test('has the members that a scan at once finds, whole and damaged', () => {
    const text = fc
      .dictionary(fc.string({ unit: 'binary' }), fc.jsonValue())
      .map((value) => JSON.stringify(value));
    const damage = fc.option(fc.tuple(fc.nat(), fc.constantFrom(...'{}[]":,\\ 1')), { nil: undefined });
    fc.assert(
      fc.property(text, damage, fc.constantFrom(0, 70_000), (json, place, padding) => {
        const filled = `${' '.repeat(padding)}${json}`;
        const at = place && place[0] % filled.length;
        const damaged = at === undefined ? filled : filled.slice(0, at) + place![1] + filled.slice(at + 1);
        const bytes = Buffer.from(damaged);
        expect(outcomeOf(() => finish(scanMembersInParts(bytes)).result)).toEqual(
          outcomeOf(() => scanMembers(bytes, Number.POSITIVE_INFINITY)),
        );
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['numbers', (n: number) => `[${'0.123456,'.repeat(n / 9)}0]`],
    ['texts', (n: number) => `[${'"a text",'.repeat(n / 9)}0]`],
    ['objects', (n: number) => `[${'{"a":[1]},'.repeat(n / 10)}0]`],
    ['nested arrays', (n: number) => '['.repeat(n / 2) + ']'.repeat(n / 2)],
    ['members', (n: number) => `{${'"a":1,'.repeat(n / 6)}"b":1}`],
  ])('pauses in proportion to its size: %s', (_what, make) => {
    const size = 2 ** 20;
    const json = Buffer.from(`{"data":${make(size)},"usage":{}}`);
    const { result, pauses } = finish(scanMembersInParts(json));
    expect(result.map(({ key }) => key)).toEqual(['data', 'usage']);
    expect(pauses).toBeGreaterThanOrEqual(12);
  });

  test('pauses between its members', () => {
    const json = Buffer.from(`{${'"a":1,'.repeat(200_000)}"b":1}`);
    expect(finish(scanMembersInParts(json)).pauses).toBeGreaterThan(12);
  });

  test('gives the elements of an array one by one', () => {
    const json = Buffer.from(' [ 1, {"a":[2]} ,"x" ] ');
    const seen: string[] = [];
    finish(
      eachElement(json, 1, function* (start) {
        const end = yield* skipValueInParts(json, start);
        seen.push(json.toString('latin1', start, end));
        return end;
      }),
    );
    expect(seen).toEqual(['1', '{"a":[2]}', '"x"']);
  });

  test('is joined from its pieces, which are let go of', () => {
    const pieces = Array.from({ length: 40 }, (_, i) => Buffer.alloc(65_536, i));
    const expected = Buffer.concat(pieces);
    const { result, pauses } = finish(joinInParts(pieces, expected.length));
    expect(result.equals(expected)).toBe(true);
    expect(pieces).toHaveLength(0);
    expect(pauses).toBeGreaterThanOrEqual(9);
  });
});
