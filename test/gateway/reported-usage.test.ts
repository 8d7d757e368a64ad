import { reportedUsage } from '../../src/inference/relay/reported-usage.js';
import fc from '../support/fast-check.js';

const reported = (usage: unknown): unknown => {
  const json = JSON.stringify(usage);
  return JSON.parse(reportedUsage(json, JSON.parse(json)));
};

describe('the usage that a caller sees', () => {
  const name = fc.oneof(
    fc.constantFrom(
      'prompt_tokens',
      'completion_tokens',
      'total_tokens',
      'cost',
      'Total_tokens',
      '__proto__',
    ),
    fc.constantFrom('prompt_tokens_details', 'cost_details', 'cost_tokens', 'tokens_details'),
    fc.string(),
  );
  const value = fc.oneof(fc.nat(), fc.jsonValue({ maxDepth: 2 }), fc.double());

  test('has token counts, whole and not negative, and nothing else', () => {
    const isCount = (count: unknown): boolean =>
      count === null || (Number.isInteger(count) && Number(count) >= 0);
    fc.assert(
      fc.property(fc.dictionary(name, fc.oneof(value, fc.dictionary(name, value))), (usage) => {
        for (const [key, count] of Object.entries(reported(usage) as object)) {
          expect(key).toMatch(/_tokens(?:_details)?$/);
          if (key.endsWith('_tokens')) expect([count, isCount(count)]).toEqual([count, true]);
          else
            for (const inner of Object.values(count ?? {}))
              expect([inner, isCount(inner)]).toEqual([inner, true]);
        }
      }),
    );
  });

  test("is the upstream's text if it has the usual form", () => {
    const usage = '{"prompt_tokens":5,"total_tokens":12,"completion_tokens":7}';
    expect(reportedUsage(usage, undefined)).toBe(usage);
  });

  test.each(['many', 5, true, null, [1]])('is null if the upstream reports %j', (usage) => {
    expect(reported(usage)).toBeNull();
  });

  test("is rebuilt otherwise, since a name may occur twice in the upstream's text", () => {
    const json = '{"total_tokens":"10.0.0.1","total_tokens":3}';
    expect(reportedUsage(json, JSON.parse(json))).toBe('{"total_tokens":3}');
  });
});
