import { chanceOf } from '../../src/proxy/simulator/random.js';
import { valueFor } from '../../src/proxy/simulator/schema-value.js';
import fc from '../support/fast-check.js';

const made = (schema: object, seed = 'seed'): unknown =>
  JSON.parse(JSON.stringify(valueFor(schema, chanceOf(seed), [])));
const MANY = Array.from({ length: 50 }, (_, at) => `seed ${at}`);

describe('numbers of the simulator', () => {
  test.each<[object, (value: number) => boolean]>([
    [{ minimum: 0, exclusiveMinimum: 0, maximum: 1 }, (value) => value > 0 && value <= 1],
    [{ minimum: 5, exclusiveMinimum: 0, maximum: 6 }, (value) => value >= 5 && value <= 6],
    [{ minimum: 0, exclusiveMinimum: 5, maximum: 6 }, (value) => value > 5 && value <= 6],
    [{ minimum: 0, maximum: 9, exclusiveMaximum: 2 }, (value) => value >= 0 && value < 2],
    [{ minimum: 0, maximum: 1, exclusiveMaximum: 9 }, (value) => value >= 0 && value <= 1],
    [{ exclusiveMinimum: 0, exclusiveMaximum: 0.1 }, (value) => value > 0 && value < 0.1],
    [{ exclusiveMaximum: 0 }, (value) => value < 0],
    [{ exclusiveMinimum: 1_000 }, (value) => value > 1_000],
    [{ minimum: 1e308 }, (value) => value >= 1e308],
    // Up to draft 4.
    [
      { minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true },
      (value) => value > 0 && value < 1,
    ],
    [{ minimum: 0, exclusiveMinimum: false, maximum: 0 }, (value) => value === 0],
    [
      { multipleOf: 0.1, minimum: 0, maximum: 1 },
      (value) => [...'0123456789'].some((d) => value === Number(`0.${d}`)) || value === 1,
    ],
    [{ multipleOf: 7, exclusiveMinimum: 0, exclusiveMaximum: 14 }, (value) => value === 7],
    [
      { allOf: [{ minimum: 5 }, { minimum: 1 }, { maximum: 6 }, { maximum: 9 }] },
      (value) => value >= 5 && value <= 6,
    ],
  ])('fit the bounds of %j, with and without a type', (bounds, fits) => {
    for (const seed of MANY) {
      for (const type of [{}, { type: 'number' }]) {
        const value = made({ ...type, ...bounds }, seed);
        expect([value, typeof value === 'number' && fits(value)]).toEqual([value, true]);
      }
    }
  });

  test('are integers in digits if the schema asks for integers, even in a range of large ones only', () => {
    const range = fc
      .tuple(fc.maxSafeInteger(), fc.nat(100))
      .map(([low, span]) => ({ low, high: low + span + 2 }));
    fc.assert(
      fc.property(range, fc.boolean(), fc.boolean(), fc.string(), ({ low, high }, open, closed, seed) => {
        fc.pre(Number.isSafeInteger(high));
        const least = open ? { minimum: low - 5, exclusiveMinimum: low } : { minimum: low };
        const most = closed ? { exclusiveMaximum: high, maximum: high + 5 } : { maximum: high };
        const text = JSON.stringify(made({ type: 'integer', ...least, ...most }, seed));
        expect(text).toMatch(/^-?\d+$/);
        const value = Number(text);
        expect(value >= (open ? low + 1 : low) && value <= (closed ? high - 1 : high)).toBe(true);
      }),
    );
  });

  test.each<[object, number]>([
    [{ multipleOf: 1.5 }, 3],
    [{ multipleOf: 0.1 }, 1],
    [{ multipleOf: 4, exclusiveMinimum: 0 }, 4],
    [{ minimum: 0.5, maximum: 3.5 }, 1],
    [{ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }, 1],
    [{ minimum: 0, maximum: 1e30 }, 1],
  ])('of %j are multiples of %i as integers', (bounds, step) => {
    for (const seed of MANY) {
      const value = made({ type: 'integer', ...bounds }, seed) as number;
      expect([value, Number.isSafeInteger(value), Math.abs(value % step)]).toEqual([value, true, 0]);
    }
  });
});
