import type { ServiceContext } from '../../context.js';
import { UNTRACKED } from '../../db/untracked.js';
import { Model } from '../../entities/billing/model.js';
import { DAY_MS, dayStart } from '../../lib/clock.js';
import type { ServiceDeps } from '../deps.js';
import type { StatusOutput } from './status.outputs.js';
import { type DayOfModel, STATUS_DAYS, statusOf } from './status.rules.js';
import { badHours, daysOfModels, lastCalls } from './status.store.js';

const CACHE_MS = 5 * 60_000;
/** Days that one statement reads. */
const SLICE_DAYS = 15;

/** Availability of the models, from roll-ups: public, and never one customer's business. */
export function createStatusService({
  config,
  clock,
  signals,
}: Pick<ServiceDeps, 'config' | 'clock' | 'signals'>) {
  const { leaderboardMinAccounts: leastAccounts } = config;
  let known: { at: number; answer: Promise<StatusOutput> } | undefined;
  signals.onModelHours(() => {
    known = undefined;
  });

  async function read({ em }: ServiceContext, now: number): Promise<StatusOutput> {
    const own = em.fork();
    const from = new Date(dayStart(now) - (STATUS_DAYS - 1) * DAY_MS);
    const models = await own.find(Model, {}, { ...UNTRACKED, orderBy: { position: 'asc' } });
    const days: DayOfModel[] = [];
    for (let day = 0; day < STATUS_DAYS; day += SLICE_DAYS) {
      const since = from.getTime() + day * DAY_MS;
      const slice = { from: new Date(since), until: new Date(since + SLICE_DAYS * DAY_MS) };
      days.push(...(await daysOfModels(own, { ...slice, leastAccounts })));
    }
    return statusOf({
      now,
      models: models.map(({ publicName }) => publicName),
      days,
      badHours: await badHours(own, from, leastAccounts),
      lastCalls: await lastCalls(own, new Date(now - 2 * DAY_MS)),
    });
  }

  return {
    /** All models, from a cache that every roll-up clears. Public. */
    async status(context: ServiceContext): Promise<StatusOutput> {
      const now = clock.now();
      if (known && now >= known.at && now - known.at < CACHE_MS) return known.answer;
      const entry = { at: now, answer: read(context, now) };
      known = entry;
      entry.answer.catch(() => {
        if (known === entry) known = undefined;
      });
      return entry.answer;
    },
  };
}
