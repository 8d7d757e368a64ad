import type { EntityManager } from '@mikro-orm/postgresql';
import type { ServiceContext } from '../../context.js';
import { limitStatements } from '../../db/in-transaction.js';
import { patiently } from '../../db/patience.js';
import { hourStart } from '../../lib/clock.js';
import { notifyModelHours, recomputeModelHour } from '../leaderboard/model-hours.store.js';
import { recomputeNodeHour } from '../nodes/node-hours.store.js';
import { mergeVersionDay, recomputeVersionHour } from '../prompts/version-hours.store.js';
import {
  compactDirtyHours,
  lockRollups,
  mergeDay,
  recomputeHour,
  takeDirtyDay,
  takeDirtyHour,
  takeUnsummedDay,
} from './rollups.store.js';
import { SLICE_MS, sliceHour } from './slices.store.js';

/** A busy hour has millions of events. */
const TIMEOUT_MS = 300_000;
/** Calls of a slice are flushed this long after its end, but for late ones. */
const FLUSHED_MS = 10_000;
/** Days merged again in one run, so that completed hours don't wait for years of them. */
const UNSUMMED_DAYS = 30;

/**
 * Rolls up every completed hour with events that aren't in its roll-up yet, oldest first, each in its own
 * transaction; then the completed slices of the open hour, and merges completed days. Many processes may run it at once: one works, the others return.
 * @returns the number of hours that this run rolled up.
 */
export async function rollUpUsage(context: ServiceContext): Promise<number> {
  const openHour = hourStart(context.clock.now());
  const repeat = async (
    step: (em: EntityManager) => Promise<Step>,
    most = Number.POSITIVE_INFINITY,
  ): Promise<{ done: number; last: Step }> => {
    for (let done = 0; ; done++) {
      const last = await patiently(TIMEOUT_MS, () => context.em.fork().transactional(step));
      if (last !== 'more' || done + 1 >= most) return { done, last };
    }
  };
  const hours = await repeat((em) => rollUpNext(em, openHour));
  // If another process is rolling up the hours, leave the lock to it.
  if (hours.last === 'nothing') {
    await repeat((em) => sliceNext(em, context.clock.now()));
    await repeat((em) => mergeNext(em, openHour));
    await repeat(sumNext, UNSUMMED_DAYS);
  }
  return hours.done;
}

/** What one transaction found: more work, nothing to do, or another process doing it. */
type Step = 'more' | 'nothing' | 'busy';

async function rollUpNext(em: EntityManager, openHour: number): Promise<Step> {
  if (!(await begin(em))) return 'busy';
  const hour = await takeDirtyHour(em, openHour);
  if (hour) {
    await recomputeHour(em, hour);
    await recomputeVersionHour(em, hour);
    await recomputeModelHour(em, hour);
    await recomputeNodeHour(em, hour);
    await notifyModelHours(em);
  } else await compactDirtyHours(em, openHour);
  return hour ? 'more' : 'nothing';
}

async function sliceNext(em: EntityManager, now: number): Promise<Step> {
  if (!(await begin(em))) return 'busy';
  const settled = now - FLUSHED_MS;
  await sliceHour(em, new Date(hourStart(now)), new Date(settled - (settled % SLICE_MS)));
  return 'nothing';
}

async function mergeNext(em: EntityManager, openHour: number): Promise<Step> {
  if (!(await begin(em))) return 'busy';
  const day = await takeDirtyDay(em, openHour);
  if (day !== undefined) {
    await mergeDay(em, day);
    await mergeVersionDay(em, day);
  }
  return day === undefined ? 'nothing' : 'more';
}

async function sumNext(em: EntityManager): Promise<Step> {
  if (!(await begin(em))) return 'busy';
  const day = await takeUnsummedDay(em);
  if (day !== undefined) await mergeDay(em, day);
  return day === undefined ? 'nothing' : 'more';
}

/** @returns false if another process is doing it. */
async function begin(em: EntityManager): Promise<boolean> {
  await limitStatements(em, TIMEOUT_MS);
  return lockRollups(em);
}
