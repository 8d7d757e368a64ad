import { PendingCharges } from '../../../src/inference/limits/period-spend.js';
import fc from '../../support/fast-check.js';

const DAYS = ['2026-11-30', '2026-12-01', '2026-12-02', '2026-12-03'];

test('pending charges are summed by day, in whatever order they are added and committed', () => {
  const step = fc.record({ day: fc.constantFrom(...DAYS), charge: fc.bigInt({ min: -9n, max: 9n }) });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const pending = new PendingCharges();
      const expected = new Map(DAYS.map((day) => [day, 0n]));
      for (const { day, charge } of steps) {
        pending.add(charge, day);
        expected.set(day, expected.get(day)! + charge);
      }
      for (const [day, charges] of expected) expect(pending.of(day)).toBe(charges);

      expect(pending.sum).toBe([...expected.values()].reduce((sum, charges) => sum + charges, 0n));
    }),
  );
});
