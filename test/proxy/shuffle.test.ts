import { chanceOf } from '../../src/proxy/simulator/random.js';
import { DeploymentLimits } from '../../src/router/deployment-limits.js';
import { Group } from '../../src/router/group.js';
import { Health } from '../../src/router/health.js';
import { Gate, Host } from '../../src/router/node-gate.js';
import type { Deployment } from '../../src/router/routing.js';

const DRAWS = 30_000;
/** Value that chi-square passes with probability 0.001, by degrees of freedom. */
const CRITICAL: Record<number, number> = { 1: 10.83, 2: 13.82, 3: 16.27, 4: 18.47 };
const SETTINGS = { strategy: 'simple-shuffle', numRetries: 2, retryAfterMs: 5_000 } as const;
const PARKED = {
  ...SETTINGS,
  allowedFails: 1,
  cooldownMs: 60_000,
  timeoutMs: undefined,
  fallbacks: new Map(),
};

const UNREACHED = { certain: true };

const groupOf = (weights: readonly number[]) =>
  new Group(
    'gateway/fast',
    weights.map((weight, index) => ({
      deployment: { id: String(index), weight } as Deployment,
      health: new Health(),
      gate: new Gate(new Host(() => undefined)),
      limits: new DeploymentLimits({
        callsPerMinute: undefined,
        tokensPerMinute: undefined,
        parallel: undefined,
      }),
      bound: { field: undefined },
    })),
  );

function draw(group: Group, seed: string, tried = new Set<Health>()): number[] {
  const { next } = chanceOf(seed);
  const counts = group.candidates.map(() => 0);
  for (let i = 0; i < DRAWS; i++) counts[Number(group.pick(0, next, tried)!.deployment.id)]!++;
  return counts;
}

/** How far counts stand from what the weights promise. */
function chiSquare(counts: readonly number[], weights: readonly number[]): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return counts.reduce((sum, count, index) => {
    const expected = (DRAWS * weights[index]!) / total;
    return expected === 0 ? sum : sum + (count - expected) ** 2 / expected;
  }, 0);
}

describe('the shuffle', () => {
  test.each([[[1, 1]], [[1, 1, 1]], [[3, 1]], [[0.5, 0.25, 0.25]], [[7, 2, 1, 5, 3]]])(
    'spreads calls as the weights say: %j',
    (weights) => {
      const counts = draw(groupOf(weights), 'seed of the shuffle');
      expect(chiSquare(counts, weights)).toBeLessThan(CRITICAL[weights.length - 1]!);
    },
  );

  test('would be found uneven by this test if it were', () => {
    const counts = draw(groupOf([1.1, 1, 1]), 'seed of the shuffle');
    expect(chiSquare(counts, [1, 1, 1])).toBeGreaterThan(CRITICAL[2]!);
  });

  test('picks a weight of 0 only if no other deployment can serve', () => {
    const group = groupOf([0, 2, 1]);
    expect(draw(group, 'zero')[0]).toBe(0);
    for (const { health } of group.candidates.slice(1)) health.failed(0, PARKED, UNREACHED);
    expect(draw(group, 'zero')).toEqual([DRAWS, 0, 0]);
  });

  test('spreads the share of a cooling or already tried deployment over the others', () => {
    const group = groupOf([1, 2, 3]);
    group.candidates[2]!.health.failed(0, PARKED, UNREACHED);
    const counts = draw(group, 'parked');
    expect(counts[2]).toBe(0);
    expect(chiSquare(counts, [1, 2, 0])).toBeLessThan(CRITICAL[1]!);
    const tried = draw(group, 'tried', new Set([group.candidates[1]!.health]));
    expect(tried).toEqual([DRAWS, 0, 0]);
  });

  test('prefers an open deployment to a full one, and a full one to an avoided one', () => {
    const group = groupOf([1, 1, 1]);
    const [full, avoided, open] = group.candidates;
    full!.limits.change({ callsPerMinute: undefined, tokensPerMinute: undefined, parallel: 1 });
    void full!.limits.enter('someone', new AbortController().signal);
    avoided!.gate.warm();
    expect(draw(group, 'full')).toEqual([0, 0, DRAWS]);
    expect(draw(group, 'full', new Set([open!.health]))).toEqual([DRAWS, 0, 0]);
    expect(draw(group, 'full', new Set([open!.health, full!.health]))).toEqual([0, DRAWS, 0]);
  });

  test('picks nothing when all are cooling down or tried', () => {
    const group = groupOf([1, 1]);
    expect(group.pick(0, Math.random, new Set(group.candidates.map(({ health }) => health)))).toBeUndefined();
    for (const { health } of group.candidates) health.failed(0, PARKED, UNREACHED);
    expect(group.pick(0, Math.random, new Set())).toBeUndefined();
    expect(group.pick(60_000, Math.random, new Set())).toBeDefined();
  });
});
