import { availableParallelism } from 'node:os';
import { differential } from '../../differential/differential.js';
import { benchAccuracy } from './bench-accuracy.js';
import { fairness } from './fairness.js';
import { lostEvents } from './g01-lost-events.js';
import { powerLoss } from './g02-power-loss.js';
import { doubleDebits } from './g03-double-debits.js';
import { overspend } from './g04-overspend.js';
import { leakedHolds } from './g05-leaked-holds.js';
import { balanceDelay } from './g06-balance-delay.js';
import { outage } from './g07-outage.js';
import { longOutage } from './g08-long-outage.js';
import { redisFrozen } from './g09-redis-frozen.js';
import { changes } from './g10-changes.js';
import { restarts } from './g11-restarts.js';
import { alerts } from './g13-alerts.js';
import { soak } from './g14-soak.js';
import { faultFree } from './g15-fault-free.js';
import type { Goal } from './goal.js';
import { fuzzed, hostileLoad } from './hostile.js';
import { inPieces, type Piece } from './pieces.js';
import { suiteAtFullSize } from './suite.js';
import { threeEdges } from './three-edges.js';
import { threeEdgesCost } from './three-edges-cost.js';
import { threeNodes } from './three-nodes.js';

/**
 * The goals of docs/reliability.md, one after another: `npm run test:long [-- --scale 0.1] [-- --only G1,G7]`.
 * `--scale 1` is the full figure and takes hours. `--only G18 --pieces 100 --minutes 60` runs a goal in so many pieces for an
 * hour; the same command goes on with the next piece (`artifacts/long`). Ends with code 1 when a goal isn't reached.
 */
const GOALS: Record<string, Goal> = {
  G1: lostEvents,
  G2: powerLoss,
  G3: doubleDebits,
  G4: overspend,
  G5: leakedHolds,
  G6: balanceDelay,
  G7: outage,
  G8: longOutage,
  G9: redisFrozen,
  G10: changes,
  // With G12, the start of an edge.
  G11: restarts,
  G13: alerts,
  G14: soak,
  G15: faultFree,
  G16: hostileLoad,
  G18: fuzzed,
  DIFFERENTIAL: differential,
  BENCH: benchAccuracy,
  NODES: threeNodes,
  EDGES: threeEdges,
  EDGESCOST: threeEdgesCost,
  FAIRNESS: fairness,
  SUITE: suiteAtFullSize,
};

/** Goals that take hours. */
const IN_PIECES: Record<string, (scale: number) => Promise<Piece>> = { G14: soak, G18: fuzzed };
const PIECES_FOLDER = 'artifacts/long';

function option(name: string): string | undefined {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const scale = Number(option('scale') ?? 1);
if (!(scale > 0 && scale <= 1)) throw new Error('--scale is a share: above 0, at most 1');
const only = option('only')?.toUpperCase().split(',') ?? Object.keys(GOALS);
const unknown = only.filter((name) => !GOALS[name]);
if (unknown.length > 0) throw new Error(`there is no goal ${unknown}: ${Object.keys(GOALS).join(', ')}`);
const pieces = Number(option('pieces') ?? 1);
const minutes = Number(option('minutes') ?? Number.POSITIVE_INFINITY);
if (!(Number.isInteger(pieces) && pieces > 0 && minutes > 0))
  throw new Error('--pieces is a whole number of at least 1, --minutes a time above 0');
if (pieces > 1 && only.some((name) => !IN_PIECES[name]))
  throw new Error(`only these run in pieces: ${Object.keys(IN_PIECES).join(', ')}`);
if (pieces > 1 && process.env.FUZZ_SEED)
  throw new Error('every piece has a seed of its own: unset FUZZ_SEED');
/** A goal as requested: whole, or in pieces. */
const goalOf = (name: string): Goal =>
  pieces > 1
    ? () => inPieces({ name, run: IN_PIECES[name]!, pieces, minutes, folder: PIECES_FOLDER })
    : GOALS[name]!;
print(
  `machine: ${availableParallelism()} cores, ${process.platform} ${process.arch}, Node ${process.version}; scale ${scale}`,
);
print('| goal | figure | reached | |\n|---|---|---|---|');
for (const name of only) {
  try {
    for (const result of [await goalOf(name)(scale)].flat()) {
      print(
        `| ${result.goal} | ${result.figure} | ${result.reached} | ${result.ok ? 'reached' : 'MISSED'} |`,
      );
      if (!result.ok) process.exitCode = 1;
    }
  } catch (error) {
    // The other goals are still worth running.
    print(`| ${name} | | broke off: ${(error as Error).message.split('\n', 1)[0]} | MISSED |`);
    process.exitCode = 1;
  }
}
// Exits explicitly, so that open handles of a goal can't keep the process running.
process.exit();
