import { availableParallelism } from 'node:os';
import { balanceDelay, longOutage, lostEvents, outage, type Result, restarts } from './goals.js';
import { fuzzed, hostileLoad } from './hostile.js';

/**
 * The goals of docs/reliability.md, one after another: `npm run test:long [-- --scale 0.1] [-- --only G1,G7]`.
 * `--scale 1` is the full figure and takes hours. Ends with code 1 when a goal isn't reached.
 */
const GOALS: Record<string, (scale: number) => Promise<Result | Result[]>> = {
  G1: lostEvents,
  G6: balanceDelay,
  G7: outage,
  G8: longOutage,
  G11: restarts,
  G16: hostileLoad,
  G18: fuzzed,
};

function option(name: string): string | undefined {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
}

const scale = Number(option('scale') ?? 1);
const only = option('only')?.split(',') ?? Object.keys(GOALS);
const print = (line: string): void => void process.stdout.write(`${line}\n`);
print(
  `machine: ${availableParallelism()} cores, ${process.platform} ${process.arch}, Node ${process.version}`,
);
print('| goal | figure | reached | |\n|---|---|---|---|');
for (const name of only) {
  const goal = GOALS[name];
  if (!goal) throw new Error(`there is no goal ${name}: ${Object.keys(GOALS).join(', ')}`);
  for (const result of [await goal(scale)].flat()) {
    print(`| ${result.goal} | ${result.figure} | ${result.reached} | ${result.ok ? 'reached' : 'MISSED'} |`);
    if (!result.ok) process.exitCode = 1;
  }
}
