import { VisitorCounts } from '../../src/inference/widgets/visitor-counts.js';

const LIMITS = { session: { perDay: 10, perMinute: 10 }, address: { perDay: 1, perMinute: 10 } };
/** More names than are counted at once. */
const MANY = 250_000;

/** Visitors as counted in an edge's memory. */
describe('the count of a visitor', () => {
  test('a count survives any number of refusals under invented sessions', () => {
    const counts = new VisitorCounts({ now: () => Date.UTC(2026, 0, 15) });
    counts.take(['a session', 'an address'], Date.UTC(2026, 0, 15));
    counts.take(['of another', 'a flooded address'], Date.UTC(2026, 0, 15));
    const refusals = new Set(
      Array.from({ length: MANY }, (_, i) => counts.refusal([`made up ${i}`, 'a flooded address'], LIMITS)),
    );
    expect([...refusals]).toEqual(['day']);
    expect(counts.refusal(['a session', 'an address'], LIMITS)).toBe('day');
  });

  test('a count restarts with the UTC day, but messages of the last minute still count', () => {
    let now = Date.UTC(2026, 0, 15, 23, 59, 50);
    const counts = new VisitorCounts({ now: () => now });
    const perMinute = { perDay: 2, perMinute: 2 };
    const limits = { session: perMinute, address: perMinute };
    for (const second of [50, 55]) {
      now = Date.UTC(2026, 0, 15, 23, 59, second);
      expect(counts.refusal(['session', 'address'], limits)).toBeUndefined();
      counts.take(['session', 'address'], now);
    }
    expect(counts.refusal(['session', 'address'], limits)).toBe('day');
    now = Date.UTC(2026, 0, 16);
    expect(counts.refusal(['session', 'address'], limits)).toEqual({ waitMs: 50_000 });
    now = Date.UTC(2026, 0, 16, 0, 0, 51);
    expect(counts.refusal(['session', 'address'], limits)).toBeUndefined();
  });
});
