import { requireViewer, type ServiceContext } from '../../context.js';
import type { PromptVersion } from '../../entities/prompts/prompt-version.js';
import { AppError } from '../../errors.js';
import { DAY_MS, dayStart } from '../../lib/clock.js';
import { isUuid } from '../../lib/ids.js';
import type { CompareVersionsInput, VersionStatsInput } from './prompts.inputs.js';
import type { VersionComparisonOutput, VersionStatsOutput } from './prompts.outputs.js';
import { findPrompt, findVersion } from './prompts.store.js';
import { fewerErrors, statsOf } from './version-stats.rules.js';
import { countVersions } from './version-stats.store.js';

/** What happened with calls that named versions of the viewer's prompts. */
export function createVersionStatsService() {
  const findOne = async (
    context: ServiceContext,
    ref: string,
    which: { id: string } | { version: number },
  ): Promise<PromptVersion> => {
    const prompt = await findPrompt(context.em, requireViewer(context).accountId, ref);
    const version = prompt && (await findVersion(context.em, prompt.id, which));
    if (!version) throw new AppError('not_found');
    return version;
  };

  const count = async (context: ServiceContext, versions: readonly PromptVersion[], days: number) => {
    const { accountId } = requireViewer(context);
    const from = new Date(dayStart(context.clock.now()) - (days - 1) * DAY_MS);
    const rows = await countVersions(context.em, { accountId, ids: versions.map(({ id }) => id), from });
    const byId = new Map(rows.map((row) => [row.version_id, row]));
    return versions.map((version) => statsOf(version, days, byId.get(version.id)));
  };

  return {
    /** @throws AppError `not_found`, also for a version of another prompt */
    async ofVersion(
      context: ServiceContext,
      input: VersionStatsInput & { id: string; vid: string },
    ): Promise<VersionStatsOutput> {
      requireViewer(context);
      if (!isUuid(input.vid)) throw new AppError('not_found');
      const version = await findOne(context, input.id, { id: input.vid });
      return (await count(context, [version], input.window_days))[0]!;
    },

    /** Two versions of a prompt by their numbers. @throws AppError `not_found` */
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
