import type { ServiceContext } from '../../context.js';
import { UNTRACKED } from '../../db/untracked.js';
import { Model } from '../../entities/billing/model.js';
import { DAY_MS, dayStart } from '../../lib/clock.js';
import type { ServiceDeps } from '../deps.js';
import { createFiguresCache } from './figures-cache.js';
import { readPublic } from './quiet-hours.store.js';
import type { StatusOutput } from './status.outputs.js';
import { type DayOfModel, STATUS_DAYS, statusReport } from './status.rules.js';
import { daysOfModels, degradedHours, lastCalls, waitingSince } from './status.store.js';

/** Days read in one statement. */
const SLICE_DAYS = 15;

/** Availability of the models: public, from roll-ups, without revealing a single customer's usage. */
export function createStatusService({
  config,
  clock,
  signals,
}: Pick<ServiceDeps, 'config' | 'clock' | 'signals'>) {
  const { leaderboardMinAccounts: leastAccounts } = config;
  const { cached } = createFiguresCache({ clock, signals });

  async function read({ em }: ServiceContext): Promise<StatusOutput> {
    const now = clock.now();
    const from = new Date(dayStart(now) - (STATUS_DAYS - 1) * DAY_MS);
    const models = await em.fork().find(Model, {}, { ...UNTRACKED, orderBy: { position: 'asc' } });
    const days: DayOfModel[] = [];
    for (let day = 0; day < STATUS_DAYS; day += SLICE_DAYS) {
      const since = from.getTime() + day * DAY_MS;
      const until = new Date(since + SLICE_DAYS * DAY_MS);
      const slice = await readPublic(em, { from: new Date(since), until, leastAccounts }, (own, counted) =>
        daysOfModels(own, { ...counted, until }),
      );
      days.push(...slice);
    }
    const recent = new Date(dayStart(now) - DAY_MS);
    const latest = await readPublic(em, { from: recent, leastAccounts }, async (own, counted) => ({
      badHours: await degradedHours(own, from, leastAccounts),
      lastCalls: await lastCalls(own, counted),
      waitingSince: await waitingSince(own),
    }));
    return statusReport({ now, models: models.map(({ publicName }) => publicName), days, ...latest });
  }

  return {
    /** All models, from a cache that every roll-up clears. Public. */
    status(context: ServiceContext): Promise<StatusOutput> {
      return cached('status', () => read(context));
    },
  };
}
