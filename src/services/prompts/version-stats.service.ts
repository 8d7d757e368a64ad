import { IsolationLevel } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { requireViewer, type ServiceContext } from '../../context.js';
import type { PromptVersion } from '../../entities/prompts/prompt-version.js';
import { DAY_MS, dayStart } from '../../lib/clock.js';
import { latencyQuantile } from '../../lib/latency-sketch.js';
import { SKETCH_FROM } from '../analytics/analytics.rules.js';
import { hasFewCalls } from '../analytics/analytics.store.js';
import { dirtyHoursOf } from '../analytics/dirty-hours-of-account.js';
import { idOf } from '../not-found.js';
import { noPrompt, noVersion } from './missing.js';
import type { CompareVersionsInput, VersionStatsInput } from './prompts.inputs.js';
import type { VersionComparisonOutput, VersionStatsOutput } from './prompts.outputs.js';
import { findPrompt, findVersion } from './prompts.store.js';
import {
  countVersions,
  exactVersionLatencies,
  type VersionScope,
  versionSketches,
} from './version-hours.store.js';
import { fewerErrors, statsOf, sumOf } from './version-stats.rules.js';

const QUANTILES = [0.5, 0.95] as const;
/** Statistics of calls that named versions of the viewer's prompts. */
export function createVersionStatsService() {
  const findOne = async (
    context: ServiceContext,
    ref: string,
    which: { id: string } | { version: number },
  ): Promise<PromptVersion> => {
    const prompt = await findPrompt(context.em, requireViewer(context).accountId, ref);
    if (!prompt) throw noPrompt();
    const version = await findVersion(context.em, prompt.id, which);
    if (!version) throw noVersion(which);
    return version;
  };

  /** On one snapshot, so that an hour rolled up in the meantime counts once. */
  const count = async (
    context: ServiceContext,
    versions: readonly PromptVersion[],
    days: number,
  ): Promise<VersionStatsOutput[]> => {
    const today = dayStart(context.clock.now());
    const { accountId } = requireViewer(context);
    const scope: VersionScope = {
      accountId,
      versionIds: versions.map(({ id }) => id),
      from: new Date(today - (days - 1) * DAY_MS),
      until: new Date(today + DAY_MS),
      dirty: await dirtyHoursOf(context, accountId),
    };
    const read = async (em: EntityManager): Promise<VersionStatsOutput[]> => {
      const rows = await countVersions(em, scope);
      const called = rows.reduce((sum, { requests, errors }) => sum + requests - errors, 0);
      const isExact =
        called < SKETCH_FROM && rows.every(({ kept }) => kept) && (await hasFewCalls(em, scope));
      const latencies = called === 0 ? new Map() : await (isExact ? exact : sketched)(em, scope);
      const byVersion = Map.groupBy(rows, (row) => row.version_id);
      return versions.map((version) =>
        statsOf(version, days, sumOf(byVersion.get(version.id) ?? []), latencies.get(version.id)),
      );
    };
    return context.em.fork().transactional(read, {
      isolationLevel: IsolationLevel.REPEATABLE_READ,
      readOnly: true,
    });
  };

  return {
    /** @throws AppError `not_found`, also for a version of another prompt */
    async ofVersion(
      context: ServiceContext,
      input: VersionStatsInput & { id: string; vid: string },
    ): Promise<VersionStatsOutput> {
      requireViewer(context);
      const version = await findOne(context, input.id, { id: idOf(input.vid, 'prompt version') });
      return (await count(context, [version], input.window_days))[0]!;
    },

    /** Compares two versions of a prompt by their numbers. @throws AppError `not_found` */
    async compare(
      context: ServiceContext,
      input: CompareVersionsInput & { id: string },
    ): Promise<VersionComparisonOutput> {
      const one = await findOne(context, input.id, { version: input.first });
      const other = await findOne(context, input.id, { version: input.second });
      const [first, second] = await count(context, [one, other], input.window_days);
      return { first: first!, second: second!, fewer_errors: fewerErrors(first!, second!) };
    },
  };
}

/** The percentiles of each version, by version id. */
type Latencies = Map<string, readonly number[]>;

async function exact(em: EntityManager, scope: VersionScope): Promise<Latencies> {
  const rows = await exactVersionLatencies(em, scope, QUANTILES);
  return new Map(rows.map(({ version_id: id, latencies }) => [id, latencies]));
}

async function sketched(em: EntityManager, scope: VersionScope): Promise<Latencies> {
  const byVersion = Map.groupBy(await versionSketches(em, scope), (row) => row.version_id);
  return new Map(
    [...byVersion].map(([id, sketch]) => [id, QUANTILES.map((q) => latencyQuantile(sketch, q))]),
  );
}
