import { setTimeout as pause } from 'node:timers/promises';
import type { TestKey } from '../../support/edge.js';
import { compareBooks } from '../rig/books.js';
import { type Entry, outcome, steadyLoad } from '../rig/client.js';
import type { Rig } from '../rig/rig.js';
import { allShare, faultsOf, faultsText, largest, percentile, type Result, scaled, withRig } from './goal.js';

const SECONDS = 60;
const PER_SECOND = 100;
/** Calls of the account whose plan limit is tested, at both edges together. */
const LIMITED_PER_SECOND = 30;
const LIMIT = 300;
const MINUTE_MS = 60_000;
/** No call may take longer; usually it takes some milliseconds. */
const HUNG_MS = 5_000;

/** G9: Redis frozen for a minute, and then killed and started again, empty. */
export function redisFrozen(scale: number): Promise<Result[]> {
  const seconds = scaled(SECONDS, scale, 8);
  return withRig('G9', { edges: 2 }, async (rig, customers) => {
    const [limited] = (await rig.customers(1, { plan: 'free' })) as [TestKey];
    await rig.postgres.pool.query(`update plans set requests_per_minute = $1 where id = 'free'`, [LIMIT]);
    await allShare(rig);
    let over = false;
    const free: Entry[] = [];
    const counted: Entry[] = [];
    const loads = [
      steadyLoad(
        PER_SECOND,
        () => over,
        async (i) => void free.push(await rig.journal.call(rig.url, customers[i % 20]!.key)),
      ),
      steadyLoad(
        LIMITED_PER_SECOND,
        () => over,
        async () => void counted.push(await rig.journal.call(rig.url, limited.key)),
      ),
    ];
    const phases: [string, number, number][] = [];
    const phase = async (name: string, happens: () => Promise<void>) => {
      const began = performance.now();
      await happens();
      phases.push([name, began, performance.now()]);
    };
    await phase('before', () => pause(seconds * 1_000));
    await phase('frozen', async () => {
      rig.redis!.freeze();
      await pause(seconds * 1_000);
      rig.redis!.thaw();
      await allShare(rig);
    });
    await phase('killed', async () => {
      await rig.redis!.kill();
      await pause((seconds * 1_000) / 4);
      await rig.redis!.start();
      await allShare(rig);
      await pause(1_000);
    });
    over = true;
    await Promise.all(loads);
    const { books } = await compareBooks(rig);
    const most = mostInAMinute(counted);
    const p99 = ([, from, to]: (typeof phases)[number]) =>
      percentile(
        free.filter(({ startedAt }) => startedAt >= from && startedAt < to).map(({ tookMs }) => tookMs),
        0.99,
      );
    const [base, ...others] = phases.map(p99) as [number, number, number];
    const fair = most <= LIMIT * 1.1 && hasRateRefusal(counted);
    const failed = free.filter((entry) => outcome(entry) !== '200');
    return phases.slice(1).map(([name], i) => ({
      goal: `G9 Redis ${name === 'frozen' ? `frozen ${seconds} s` : 'killed and back, empty'}, two edges, ${PER_SECOND + LIMITED_PER_SECOND} calls/s`,
      figure: 'added p99 ≤ 50 ms, 0 hung, admitted ≤ 1.1 × limit',
      reached: `p99 ${others[i]!.toFixed(0)} ms, before ${base.toFixed(0)} ms; ${failed.length} of ${free.length} calls failed${failureList(rig, failed)}, longest ${largest(free.map(({ tookMs }) => tookMs)).toFixed(0)} ms; admitted in any minute at most ${most} of ${LIMIT} (${counted.length} asked); books: ${faultsText(books)}`,
      ok:
        others[i]! - base <= 50 &&
        failed.length === 0 &&
        largest(free.map(({ tookMs }) => tookMs)) < HUNG_MS &&
        fair &&
        faultsOf(books) === 0,
    }));
  });
}

const failureList = (rig: Rig, failed: Entry[]): string =>
  failed.length === 0 ? '' : ` ${JSON.stringify(rig.journal.tally(failed))}`;

/** The most calls admitted within any minute, by the time of their request. */
function mostInAMinute(entries: Entry[]): number {
  const times = entries
    .filter(({ status }) => status === 200)
    .map(({ startedAt }) => startedAt)
    .sort((a, b) => a - b);
  let most = 0;
  for (let last = 0, first = 0; last < times.length; last++) {
    while (times[last]! - times[first]! >= MINUTE_MS) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

/** Whether the limit was reached at all, without which the number of admitted calls means nothing. */
const hasRateRefusal = (entries: Entry[]): boolean => entries.some(({ status }) => status === 429);
