import { compareBooks } from '../rig/books.js';
import { loseEachInTurn, THREE_EDGES } from '../rig/three-edges.js';
import {
  allShare,
  faultsOf,
  faultsText,
  type Goal,
  largest,
  percentile,
  type Result,
  scaled,
  withRig,
} from './goal.js';

const ROUNDS = 30;
const PER_SECOND = 60;
const CROWD = 500;

/** G3, G4, G5 and G10 over three edges, Redis and PgBouncer, which are lost one after the other. */
export const threeEdges: Goal = (scale) =>
  withRig('three edges', THREE_EDGES, async (rig, customers): Promise<Result[]> => {
    await allShare(rig);
    const rounds = scaled(ROUNDS, scale, 1);
    const seen = await loseEachInTurn(rig, customers, { rounds, perSecond: PER_SECOND, crowd: CROWD });
    const { books, counts } = await compareBooks(rig, { crashes: true, timeoutMs: 60_000 });
    const failed = Object.keys(seen.failed).length;
    const [p99, most] = [percentile(seen.delays, 0.99), largest(seen.delays)];
    const what = `EDGES ${rounds} times Redis, PgBouncer and an edge killed`;
    return [
      {
        goal: `${what}: G3`,
        figure: '0 double or lost debits, 0 calls failed but those of the killed edge',
        reached: `${counts.rows} events of ${counts.calls} calls, failed: ${failed === 0 ? 0 : JSON.stringify(seen.failed)}; books: ${faultsText(books)}`,
        ok: failed === 0 && faultsOf(books) === 0,
      },
      {
        goal: `${what}: G4, ${CROWD} parallel calls while Redis is away, and again when it is back`,
        figure: 'balance ≥ 0.001 − one call',
        reached: `${seen.overspent.length} of ${rounds} accounts below`,
        ok: seen.overspent.length === 0,
      },
      {
        goal: `${what}: G5`,
        figure: 'R = 0 within 60 s; 0 × 402 for a sequential caller',
        reached: `${seen.open} open, ${seen.refusedAlone} refused`,
        ok: seen.open === 0 && seen.refusedAlone === 0,
      },
      {
        goal: `${what}: G10, ${seen.delays.length} changes`,
        figure: 'p99 ≤ 250 ms, at most 1 s',
        reached: `p50 ${percentile(seen.delays, 0.5).toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, longest ${most.toFixed(0)} ms`,
        ok: p99 <= 250 && most <= 1_000,
      },
    ];
  });
