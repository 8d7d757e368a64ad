import { LockMode } from '@mikro-orm/core';
import { requireAdmin, type ServiceContext } from '../../context.js';
import { notifyInvalidation } from '../../db/invalidation.js';
import { UNTRACKED } from '../../db/untracked.js';
import { Model } from '../../entities/billing/model.js';
import { DAY_MS, formatTimestamp, hourStart } from '../../lib/clock.js';
import { isStorable } from '../../lib/input-fields.js';
import { requireActingAdmin } from '../accounts/acting.js';
import { changedFields, recordAction } from '../admin/admin-actions.store.js';
import { rollUpUsage } from '../analytics/rollups.service.js';
import { lockRollups } from '../analytics/rollups.store.js';
import type { ModelOutput } from '../billing/billing.outputs.js';
import type { createBillingService } from '../billing/billing.service.js';
import type { ServiceDeps } from '../deps.js';
import { notFound } from '../not-found.js';
import {
  breakdownStart,
  contender,
  emptyFigures,
  entryOf,
  hourlyBreakdown,
  isRanked,
  type ModelFigures,
  type RankedModel,
  rowOf,
} from './entries.rules.js';
import { createFiguresCache } from './figures-cache.js';
import { countedUpTo } from './late-figures.rules.js';
import type { LeaderboardInput, UpdateModelInput } from './leaderboard.inputs.js';
import type {
  LeaderboardEntryOutput,
  LeaderboardModelOutput,
  LeaderboardOutput,
  LeaderboardRowOutput,
  RecomputeOutput,
} from './leaderboard.outputs.js';
import {
  hoursOfModel,
  modelAccounts,
  modelSketches,
  modelTotals,
  notifyModelHours,
  recomputeModelHour,
} from './model-hours.store.js';
import { readPublic } from './quiet-hours.store.js';
import { rank, type Standing } from './ranking.rules.js';
import { waitingSince } from './status.store.js';

const PREFIX = 'gateway/';
/** Clients may leave out the family. */
const publicNameOf = (name: string): string => (name.startsWith(PREFIX) ? name : `${PREFIX}${name}`);

/** The figures of a window, for every order. */
export interface Board {
  /** Time of the figures. */
  generatedAt: string;
  /** The first hour of the window. */
  from: Date;
  figures: ModelFigures[];
  standings: Map<string, Standing>;
  /** Responses made from these figures: the same question gets the same object. */
  answers: Map<string, object>;
}

function answered<T extends object>({ answers }: Board, question: string, make: () => T): T {
  const known = answers.get(question) as T | undefined;
  if (known) return known;
  const answer = make();
  answers.set(question, answer);
  return answer;
}

/** The figures of a model by either of its names. */
function figuresOf({ figures }: Board, name: string): ModelFigures {
  const publicName = publicNameOf(name);
  const found = figures.find(({ model }) => model.publicName === publicName);
  if (!found) throw notFound('model', { by: 'name' });
  return found;
}

/** Models without a successful call have no latency and come last. */
const p95Of = ({ success_rate, p95_latency_ms }: LeaderboardEntryOutput): number =>
  success_rate === 0 ? Number.MAX_SAFE_INTEGER : p95_latency_ms;

const ORDERS: Record<
  LeaderboardInput['sort_by'],
  (a: LeaderboardEntryOutput, b: LeaderboardEntryOutput) => number
> = {
  ranking_score: (a, b) => b.ranking_score! - a.ranking_score!,
  p95_latency: (a, b) => p95Of(a) - p95Of(b),
  cost: (a, b) => Number(a.output_price_per_million_usd) - Number(b.output_price_per_million_usd),
  throughput: (a, b) => (b.output_tokens_per_second ?? 0) - (a.output_tokens_per_second ?? 0),
};
const byName = (a: LeaderboardEntryOutput, b: LeaderboardEntryOutput): number =>
  a.model_public_name < b.model_public_name ? -1 : 1;

/** The ranked models in the requested order, and the names of the others. */
function listOf(
  { generatedAt, figures, standings }: Board,
  { window_days, sort_by }: LeaderboardInput,
): LeaderboardOutput {
  const entries = figures.flatMap((one) => {
    const standing = standings.get(one.model.publicName);
    return standing ? [entryOf(one, standing)] : [];
  });
  entries.sort((a, b) => ORDERS[sort_by](a, b) || ORDERS.ranking_score(a, b) || byName(a, b));
  return {
    window_days,
    total_entries: entries.length,
    generated_at: generatedAt,
    entries,
    insufficient_data_models: figures
      .map(({ model }) => model.publicName)
      .filter((name) => !standings.has(name)),
  };
}

/**
 * Performance of the models over all accounts: public, from roll-ups, without revealing a single customer's usage.
 */
export function createLeaderboardService(
  { config, clock, signals }: Pick<ServiceDeps, 'config' | 'clock' | 'signals'>,
  billing: Pick<ReturnType<typeof createBillingService>, 'models'>,
) {
  const { leaderboardMinAccounts: leastAccounts } = config;
  const { cached, clear } = createFiguresCache({ clock, signals });

  const isShown = ({ accounts }: ModelFigures): boolean => accounts.accounts >= leastAccounts;

  const board = (context: ServiceContext, windowDays: number): Promise<Board> =>
    cached(`window ${windowDays}`, () => readBoard(context, windowDays));

  async function readBoard({ em }: ServiceContext, windowDays: number): Promise<Board> {
    const now = clock.now();
    const from = new Date(hourStart(now) - windowDays * DAY_MS);
    const models: RankedModel[] = await em
      .fork()
      .find(Model, {}, { ...UNTRACKED, orderBy: { position: 'asc' } });
    const { totals, accounts, sketches, waiting } = await readPublic(
      em,
      { from, leastAccounts },
      async (own, counted) => ({
        totals: Map.groupBy(await modelTotals(own, counted), ({ model }) => model),
        accounts: Map.groupBy(await modelAccounts(own, counted), ({ model }) => model),
        sketches: Map.groupBy(await modelSketches(own, counted), ({ model }) => model),
        waiting: await waitingSince(own),
      }),
    );
    const figures = models.map((model): ModelFigures => {
      const none = emptyFigures(model);
      const { latency, ttft, input, output } = Object.groupBy(
        sketches.get(model.publicName) ?? [],
        ({ sketch }) => sketch,
      );
      return {
        model,
        totals: totals.get(model.publicName)?.[0] ?? none.totals,
        accounts: accounts.get(model.publicName)?.[0] ?? none.accounts,
        sketches: { latency: latency ?? [], ttft: ttft ?? [], input: input ?? [], output: output ?? [] },
      };
    });
    const ranked = figures.filter((one) => isRanked(one, leastAccounts));
    return {
      generatedAt: formatTimestamp(countedUpTo(now, waiting)),
      from,
      figures,
      standings: rank(ranked.map(contender)),
      answers: new Map(),
    };
  }

  return {
    /** The figures behind the other methods; the same object until figures change. */
    board,

    /** The ranked models in the requested order. Public. */
    async list(context: ServiceContext, input: LeaderboardInput): Promise<LeaderboardOutput> {
      const read = await board(context, input.window_days);
      return answered(read, `list ${input.sort_by}`, () => listOf(read, input));
    },

    /**
     * One model with its last 168 hours. Public. Has no figures if too few accounts used the model.
     * @throws AppError `not_found`
     */
    async model(
      context: ServiceContext,
      name: string,
      { window_days }: Pick<LeaderboardInput, 'window_days'>,
    ): Promise<LeaderboardModelOutput> {
      const read = await board(context, window_days);
      const found = figuresOf(read, name);
      const { publicName } = found.model;
      const shown = isShown(found);
      const standing = read.standings.get(publicName);
      const hours = await cached(`hours ${publicName}`, () =>
        hoursOfModel(context.em.fork(), {
          model: publicName,
          from: new Date(breakdownStart(clock.now())),
          leastAccounts,
        }),
      );
      const now = clock.now();
      return answered(read, `${publicName} at ${hourStart(now)}`, () => ({
        ...entryOf(shown ? found : emptyFigures(found.model), standing),
        insufficient_data: !standing,
        generated_at: read.generatedAt,
        hourly_breakdown: hourlyBreakdown(shown ? hours : [], now),
      }));
    },

    /**
     * The figures from which a model's entry is computed. Public. Has no figures if too few accounts used the model.
     * @throws AppError `not_found`
     */
    async row(
      context: ServiceContext,
      name: string,
      { window_days }: Pick<LeaderboardInput, 'window_days'>,
    ): Promise<LeaderboardRowOutput> {
      const read = await board(context, window_days);
      const found = figuresOf(read, name);
      return answered(read, `row ${found.model.publicName}`, () => ({
        ...rowOf(isShown(found) ? found : emptyFigures(found.model)),
        window_days,
        generated_at: read.generatedAt,
      }));
    },

    /** Rolls up waiting hours and the current one so far. For administrators. */
    async recompute(context: ServiceContext): Promise<RecomputeOutput> {
      requireAdmin(context);
      const closed = await rollUpUsage(context);
      const isMade = await context.em.fork().transactional(async (em) => {
        // Only one process may write the hour at a time.
        if (!(await lockRollups(em))) return false;
        await recomputeModelHour(em, new Date(hourStart(clock.now())));
        await notifyModelHours(em);
        return true;
      });
      clear();
      return { hours: closed + (isMade ? 1 : 0) };
    },

    /**
     * Changes the display name and description of a model. For administrators.
     * @throws AppError `not_found`
     */
    async updateModel(context: ServiceContext, name: string, input: UpdateModelInput): Promise<ModelOutput> {
      const viewer = requireAdmin(context);
      const publicName = publicNameOf(name);
      if (!isStorable(publicName)) throw notFound('model', { by: 'name' });
      await context.em.fork().transactional(async (em) => {
        const model = await em.findOne(Model, { publicName }, { lockMode: LockMode.PESSIMISTIC_WRITE });
        await requireActingAdmin(em, viewer);
        if (!model) throw notFound('model', { by: 'name' });
        const wanted = { is_featured: input.is_featured ?? model.isFeatured };
        const changes = changedFields({ is_featured: model.isFeatured }, wanted);
        if (Object.keys(changes.after).length === 0) return;
        model.isFeatured = wanted.is_featured;
        recordAction(em, context, { action: 'model.update', subjectId: publicName, ...changes });
        await notifyInvalidation(em, { kind: 'catalog' });
        await notifyModelHours(em);
      });
      clear();
      const models = await billing.models(context);
      return models.find((model) => model.model_public_name === publicName)!;
    },
  };
}
