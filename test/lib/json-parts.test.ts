import { joinInParts } from '../../src/lib/join-in-parts.js';
import { eachElement, memberValue, scanMembersInParts, skipValueInParts } from '../../src/lib/json-scan.js';
import type { Work } from '../../src/lib/turns.js';
import fc from '../support/fast-check.js';

/** The result of work, and how often it paused. */
function finish<T>(work: Work<T>): { result: T; pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const step = work.next();
    if (step.done) return { result: step.value, pauses };
  }
}

/** More than is read between two pauses. */
const LONG = `${'7,'.repeat(40_000)}7`;

describe('JSON that is scanned in parts', () => {
  test('has the members that JSON.parse sees, with pauses among them', () => {
    const text = fc
      .dictionary(fc.string({ unit: 'binary' }), fc.jsonValue())
      .map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(text, (json) => {
        const body = Buffer.from(`${json.slice(0, -1)}${json === '{}' ? '' : ','}"":[${LONG}],"~":1}`);
        const { result, pauses } = finish(scanMembersInParts(body));
        const seen = new Map(result.map((member) => [member.key, memberValue(body, member)]));
        expect(seen).toEqual(new Map(Object.entries(JSON.parse(body.toString()) as object)));
        expect(pauses).toBeGreaterThan(0);
      }),
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
