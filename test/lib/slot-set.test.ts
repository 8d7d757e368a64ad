import { SlotSet } from '../../src/lib/slot-set.js';
import fc from '../support/fast-check.js';

describe('a set of slots', () => {
  test('holds the values that were added and not deleted, in any order of operations', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 9 }), { maxLength: 200 }), (steps) => {
        const set = new SlotSet<{ n: number }>();
        const held = new Map<{ n: number }, number>();
        const gone: [number, { n: number }][] = [];
        for (const step of steps) {
          const [oldest] = held;
          if (step < 6 || !oldest) {
            const value = { n: step };
            held.set(value, set.add(value));
          } else if (step < 9) {
            set.delete(oldest[1], oldest[0]);
            held.delete(oldest[0]);
            gone.push([oldest[1], oldest[0]]);
          } else {
            // Delete it a second time, although another value may have the slot now.
            for (const [slot, value] of gone) set.delete(slot, value);
          }
        }
        expect(set.size).toBe(held.size);
        expect(new Set(set)).toEqual(new Set(held.keys()));
        expect(new Set(held.values()).size).toBe(held.size);
      }),
    );
  });
});
