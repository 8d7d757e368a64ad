import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Result } from '../faults/long/goal.js';
import { Random } from '../hostile/fuzz/random.js';
import { baseline } from './baseline.js';
import type { Arrangement } from './build.js';
import type { Difference } from './compare.js';
import { reportOf } from './report.js';
import { malformedBodies } from './requests/bodies.js';
import { connectionsOf } from './requests/connections.js';
import { otherDoors } from './requests/doors.js';
import { failingNodes } from './requests/failures.js';
import { plainCalls } from './requests/plain.js';
import { refusedRequests } from './requests/refused.js';
import { streamedCalls } from './requests/streams.js';
import { type Outcome, run, type Unlisted } from './run.js';
import { type Scenario, scriptsOf } from './scenario.js';
import { sortOut } from './sort-out.js';
import { WANTED } from './wanted.js';

const SEED = 20_261_128;

const DEPLOYMENTS = {
  'fast-a': { group: 'gateway/fast' },
  'qwen-fast-a': { group: 'gateway/qwen-fast' },
  'pro-a': { group: 'gateway/qwen-pro' },
  'pro-b': { group: 'gateway/qwen-pro' },
  'code-a': { group: 'gateway/deepseek-code', dead: true },
  'reason-a': { group: 'gateway/deepseek-reason', params: { timeout: 1, stream_timeout: 1 } },
  'embed-a': { group: 'gateway/embed' },
};
/** No deployment cools down, however often it fails. */
const PATIENT: Arrangement = {
  deployments: DEPLOYMENTS,
  router: { num_retries: 2, retry_after: 0.02, allowed_fails: 1_000, cooldown_time: 1 },
};
const PARKING: Arrangement = {
  deployments: {
    ...DEPLOYMENTS,
    'pro-b': { group: 'gateway/qwen-pro', dead: true },
    'reason-a': { group: 'gateway/deepseek-reason', dead: true },
  },
  router: {
    num_retries: 1,
    retry_after: 0.02,
    allowed_fails: 2,
    cooldown_time: 3_600,
    fallbacks: [{ 'gateway/deepseek-code': ['gateway/qwen-fast'] }],
  },
};

/** All scenarios. Each kind has its own seed, so that another request changes no others. */
const scenarios = (): Scenario[] =>
  [
    plainCalls,
    streamedCalls,
    malformedBodies,
    refusedRequests,
    otherDoors,
    connectionsOf,
    failingNodes,
  ].flatMap((make, i) => make(new Random(SEED + i)));

async function compareBuilds(
  checkouts: readonly [string, string],
  only: RegExp,
  unlisted: Unlisted,
): Promise<Outcome> {
  const chosen = scenarios().filter(({ name }) => only.test(name));
  const total: Outcome = { requests: 0, statuses: new Map(), differences: [], onceOnly: [] };
  for (const [where, arrangement] of [
    ['patient', PATIENT],
    ['parking', PARKING],
  ] as const) {
    const here = chosen.filter((scenario) => (scenario.where ?? 'patient') === where);
    if (here.length === 0) continue;
    const outcome = await run(checkouts, arrangement, here, unlisted);
    total.requests += outcome.requests;
    for (const [status, count] of outcome.statuses)
      total.statuses.set(status, (total.statuses.get(status) ?? 0) + count);
    total.differences.push(...outcome.differences);
    total.onceOnly.push(...outcome.onceOnly);
  }
  return total;
}

const print = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * Compares this checkout with the baseline. Prints every difference that `WANTED` doesn't list, and every entry that
 * no difference matches any more. `DIFFERENTIAL_NOW` names another checkout, `DIFFERENTIAL_ONLY` a pattern of scenarios,
 * `DIFFERENTIAL_OUT` a file for all differences, a line of JSON each.
 */
export async function differential(): Promise<Result> {
  const before = resolve(baseline());
  const now = resolve(process.env.DIFFERENTIAL_NOW ?? '.');
  const only = process.env.DIFFERENTIAL_ONLY;
  // If a build is compared with itself, no wanted difference occurs.
  const wanted = before === now ? [] : WANTED;
  const scripts = scriptsOf(scenarios());
  const textOf = (id: string): string =>
    Buffer.concat((scripts.get(id) ?? []).flatMap(({ pieces }) => pieces)).toString('latin1');
  const sorted = (differences: readonly Difference[]): ReturnType<typeof sortOut> =>
    sortOut(differences, wanted, textOf);
  const { requests, statuses, differences, onceOnly } = await compareBuilds(
    [before, now],
    new RegExp(only ?? ''),
    (found) => sorted(found).unwanted,
  );
  const { unwanted, stale } = sorted(differences);
  const file = process.env.DIFFERENTIAL_OUT;
  if (file) writeFileSync(file, differences.map((one) => `${JSON.stringify(one)}\n`).join(''));
  for (const line of reportOf(unwanted)) print(line);
  const gone = only ? [] : stale;
  for (const { sentence, requests: where, part } of gone)
    print(`no longer occurs: ${where} ${part}: ${sentence}`);
  for (const line of reportOf(onceOnly)) print(`not again: ${line}`);
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  print(`statuses of the baseline: ${counts.join(', ')}`);
  return {
    goal: `DIFFERENTIAL ${requests} requests to the baseline and to this checkout`,
    figure: '0 differences but the wanted ones, each of which occurs',
    reached: `${unwanted.length} unwanted, ${differences.length - unwanted.length} wanted, ${gone.length} stale, ${onceOnly.length} not again`,
    ok: unwanted.length === 0 && gone.length === 0,
  };
}
