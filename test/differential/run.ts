import { checkInvariants } from '../support/invariants.js';
import { completion, EVENTS, stream, vectors, whole } from './answers.js';
import { type Books, readBooks } from './books.js';
import { type Account, type Arrangement, type Build, startBuild } from './build.js';
import { type Difference, differences, type Parts, scenarioOf } from './compare.js';
import type { Script } from './node.js';
import { type Performed, perform } from './perform.js';
import { type Scenario, scriptsOf } from './scenario.js';

export interface Outcome {
  requests: number;
  /** How often the baseline gave each status. */
  statuses: Map<number, number>;
  differences: Difference[];
  /** Differences that a repetition didn't show: how bytes arrive is random on a busy machine. */
  onceOnly: Difference[];
}

/** Returns the differences that `WANTED` doesn't list. */
export type Unlisted = (differences: readonly Difference[]) => Difference[];

/** What one build did in a scenario. */
interface Side {
  account: Account;
  performed: Performed[];
}

const AT_ONCE = 8;
/** How often a difference is tried again. */
const AGAIN = 2;

/**
 * Runs scenarios on two builds at the same time and compares both. Scenarios with unlisted differences run
 * again, one by one.
 */
export async function run(
  checkouts: readonly [baseline: string, now: string],
  arrangement: Arrangement,
  scenarios: readonly Scenario[],
  unlisted: Unlisted,
): Promise<Outcome> {
  const scripts = scriptsOf(scenarios);
  const scriptOf = (name: string | undefined, body: string): Script =>
    scripts.get(name ?? '') ?? usualAnswer(body);
  const builds: Build[] = [];
  try {
    for (const checkout of checkouts) builds.push(await startBuild(checkout, arrangement, scriptOf));
    const outcome = await pass(builds, scenarios, AT_ONCE);
    for (let again = 0; again < AGAIN; again++) await leaveOutChance(builds, scenarios, outcome, unlisted);
    const [before, now] = await Promise.all(builds.map(({ pool }) => checkInvariants(pool)));
    outcome.differences.push(
      ...differences('invariants', { violations: before!.join('\n') }, { violations: now!.join('\n') }),
    );
    return outcome;
  } finally {
    await Promise.all(builds.map((build) => build.stop()));
  }
}

/** Repeats scenarios with unlisted differences, unless their nodes are still cooling down. */
async function leaveOutChance(
  builds: readonly Build[],
  scenarios: readonly Scenario[],
  outcome: Outcome,
  unlisted: Unlisted,
): Promise<void> {
  const unexpected = unlisted(outcome.differences);
  const names = new Set(unexpected.map(scenarioOf));
  const suspects = scenarios.filter(({ name, where }) => where !== 'parking' && names.has(name));
  if (suspects.length === 0) return;
  const { differences: found } = await pass(builds, suspects, 1);
  const keyOf = ({ id, part }: Difference): string => `${id} ${part}`;
  const repeated = new Map(found.map((one) => [keyOf(one), one]));
  const tried = new Set(suspects.map(({ name }) => name));
  const again = new Set(unexpected.filter((one) => tried.has(scenarioOf(one))));
  outcome.onceOnly.push(...[...again].filter((one) => !repeated.has(keyOf(one))));
  // One that occurs again counts as it reads now: the first time, chance may have added to what is wanted.
  outcome.differences = outcome.differences.flatMap((one) =>
    again.has(one) ? (repeated.get(keyOf(one)) ?? []) : one,
  );
}

/** A node's response to a request that names no script. */
function usualAnswer(body: string): Script {
  if (body.includes('"messages"'))
    return [/"stream" *: *true/.test(body) ? stream(EVENTS) : whole(completion())];
  const { input } = JSON.parse(Buffer.from(body, 'latin1').toString()) as { input: unknown };
  return [whole(vectors(Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1))];
}

/** Runs each scenario once, several at a time, and compares. */
async function pass(
  builds: readonly Build[],
  scenarios: readonly Scenario[],
  atOnce: number,
): Promise<Outcome> {
  const sides: Side[][] = [];
  const waiting = [...scenarios.entries()];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [at, { name, needs, steps }] = next;
      const accounts = await Promise.all(builds.map((build) => build.account(needs)));
      const both = accounts.map((account): Side => ({ account, performed: [] }));
      for (const [i, step] of steps.entries()) {
        const act = async (build: Build, { account, performed }: Side): Promise<void> => {
          performed.push(...(await perform(build, account, `${name}/${i}`, step)));
        };
        await Promise.all(builds.map((build, n) => act(build, both[n]!)));
      }
      sides[at] = both;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  await Promise.all(builds.map((build) => build.settled()));
  const books = await Promise.all(
    builds.map(({ pool }, n) =>
      readBooks(
        pool,
        sides.map((both) => both[n]!.account),
      ),
    ),
  );
  const outcome: Outcome = { requests: 0, statuses: new Map(), differences: [], onceOnly: [] };
  for (const [at, scenario] of scenarios.entries()) {
    const [before, now] = sides[at]!.map((side, n) => recordOf(scenario, side, books[n]![at]!));
    for (const [id, parts] of before!) {
      outcome.differences.push(...differences(id, parts, now!.get(id) ?? {}));
      if (id === scenario.name) continue;
      const status = Number(parts.status);
      outcome.requests++;
      outcome.statuses.set(status, (outcome.statuses.get(status) ?? 0) + 1);
    }
  }
  return outcome;
}

/** Each request with its usage event, and all other records under the scenario's name. */
function recordOf({ name, steps }: Scenario, { performed }: Side, books: Books): Map<string, Parts> {
  const record = new Map<string, Parts>();
  const { events } = books;
  for (const { id, parts, requestId = '' } of performed) {
    record.set(id, { ...parts, ...events.get(requestId) });
    events.delete(requestId);
  }
  // Calls that overlap with the next one end in any order.
  const isOrdered = steps.every((step) => 'sent' in step && !step.sent.leave);
  record.set(name, {
    balance: books.balance,
    ledger: books.ledger
      .map((entry) => JSON.stringify(entry))
      .sort(isOrdered ? () => 0 : undefined)
      .join('\n'),
    ...books.others,
    'other usage': [...events.values()]
      .map((parts) => JSON.stringify(parts))
      .sort()
      .join('\n'),
  });
  return record;
}
