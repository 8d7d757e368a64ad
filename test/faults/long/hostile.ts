import { fuzz } from '../../hostile/fuzz/fuzz.js';
import { startFuzzRig } from '../../hostile/fuzz/target.js';
import { slowClients } from '../../hostile/slow/slow.js';
import { checkInvariants } from '../../support/invariants.js';
import { seedFrom } from '../../support/seed.js';
import { startRig } from '../rig/rig.js';
import type { Result } from './goal.js';
import type { Piece } from './pieces.js';

const MIB = 2 ** 20;
const SHOWN_FAULTS = 5;

/** Slow senders and stalled readers, a minute of them. */
export async function hostileLoad(scale: number): Promise<Result[]> {
  const [loris, stalled] = [Math.max(200, Math.round(2_000 * scale)), Math.max(50, Math.round(500 * scale))];
  const rig = await startRig('G16', { direct: true, balance: '1000000' });
  try {
    const { before, during, rssGrowthBytes, cuts, slowestStalledMs } = await slowClients(rig, {
      loris,
      stalled,
      watchMs: 15_000,
      toTheEnd: true,
    });
    const slowest = { headers: Math.max(...cuts.headersMs), bodies: Math.max(...cuts.bodiesMs) };
    const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
    const goal = `G16 ${loris} slow senders, ${stalled} stalled readers`;
    return [
      {
        goal,
        figure: 'p99 of others ≤ 2 × baseline',
        reached: `p50 ${before.p50.toFixed(1)} → ${during.p50.toFixed(1)} ms, p99 ${before.p99.toFixed(1)} → ${during.p99.toFixed(1)} ms (${before.requests} and ${during.requests} requests)`,
        ok: during.p99 <= 2 * before.p99,
      },
      {
        goal,
        figure: "the edge's resident memory + ≤ 192 MiB",
        reached: `+ ${(rssGrowthBytes / MIB).toFixed(0)} MiB`,
        ok: rssGrowthBytes <= 192 * MIB,
      },
      {
        goal,
        figure: 'each cut within 15 s (headers) and 60 s (bodies, readers that take nothing)',
        reached: `headers ${seconds(slowest.headers)} s, bodies ${seconds(slowest.bodies)} s, readers ${seconds(slowestStalledMs)} s at the latest; still there: ${cuts.open}`,
        // The time of the last byte is known to half a second.
        ok:
          cuts.open === 0 &&
          slowest.headers <= 15_000 &&
          slowest.bodies <= 60_000 &&
          slowestStalledMs <= 61_000,
      },
    ];
  } finally {
    await rig.close();
  }
}

/** Requests from a grammar and mutations of them. */
export async function fuzzed(scale: number): Promise<Piece> {
  const requests = Math.max(20_000, Math.round(5_000_000 * scale));
  const seed = seedFrom('FUZZ_SEED');
  process.stderr.write(`G18: FUZZ_SEED=${seed}\n`);
  const target = await startFuzzRig('G18');
  try {
    const { answers, slowestMs, faults } = await fuzz(target, { seed, requests });
    const violations = await checkInvariants(target.rig.postgres.pool);
    for (const fault of faults.slice(0, SHOWN_FAULTS)) process.stderr.write(`${JSON.stringify(fault)}\n`);
    return {
      goal: `G18 ${requests} fuzzed requests`,
      figure: '0 crashes, undeclared 5xx, stack traces, answers over 10 s; here also 0 broken invariants',
      reached: `${faults.length} faults in ${answers} answers, the slowest ${slowestMs.toFixed(0)} ms, ${violations.length} broken invariants, FUZZ_SEED=${seed}`,
      ok: faults.length === 0 && answers >= requests && violations.length === 0,
      sums: { answers, faults: faults.length, 'broken invariants': violations.length },
      most: { 'slowest answer (ms)': slowestMs },
    };
  } finally {
    await target.close();
  }
}
