import { IsolationLevel } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { requireViewer, type ServiceContext } from '../../context.js';
import { DAY_MS, dayStart } from '../../lib/clock.js';
import { latencyQuantile } from '../../lib/latency-sketch.js';
import { uuidsOf } from '../../lib/uuid.js';
import { ownedKeys } from '../keys/keys.store.js';
import { idOf, notFound } from '../not-found.js';
import type { AnalyticsInput, UsageSeriesInput } from './analytics.inputs.js';
import type { AnalyticsOutput, UsageSeriesPointOutput } from './analytics.outputs.js';
import { SKETCH_FROM, summarise } from './analytics.rules.js';
import {
  countByDayAndModel,
  exactLatencies,
  hasFewCalls,
  latencySketch,
  type Scope,
} from './analytics.store.js';
import { dirtyHoursOf } from './dirty-hours-of-account.js';
import { seriesBounds, seriesOf } from './series.rules.js';
import { countByHourAndModel } from './usage-sums.store.js';

const QUANTILES = [0.5, 0.95] as const;

/** A key id, or null for the whole account. */
type Owner = string | null;

/** Usage of the last days: of the viewer's account, or of its keys. */
export function createAnalyticsService() {
  /** On one snapshot, so that an hour rolled up in the meantime counts once. */
  const analyse = async (
    context: ServiceContext,
    { window_days: windowDays, ends_days_ago: endsDaysAgo = 0 }: AnalyticsInput,
    keyIds?: readonly string[],
  ): Promise<Map<Owner, AnalyticsOutput>> => {
    const { accountId } = requireViewer(context);
    const now = context.clock.now() - endsDaysAgo * DAY_MS;
    const today = dayStart(now);
    const from = new Date(today - (windowDays - 1) * DAY_MS);
    // A window that ends earlier ends at the present time of day, so that both windows are equally long.
    const until = new Date(endsDaysAgo === 0 ? today + DAY_MS : now);
    const dirty = await dirtyHoursOf(context, accountId);
    const read = async (em: EntityManager): Promise<Map<Owner, AnalyticsOutput>> => {
      const scope: Scope = { accountId, from, until, dirty };
      if (keyIds) scope.keyIds = await ownedKeys(em, { accountId, ids: keyIds });
      const owners: readonly Owner[] = scope.keyIds ?? [null];
      if (owners.length === 0) return new Map();
      const rows = await countByDayAndModel(em, scope);
      const counts = Map.groupBy(rows, (row) => row.key_id);
      const summaries = new Map(
        owners.map((owner) => [owner, summarise(counts.get(owner) ?? [], { windowDays, now })]),
      );
      const found = await latencies(em, scope, summaries, rows[0]?.kept ?? true);
      return new Map(
        [...summaries].map(([owner, summary]) => {
          const [p50 = 0, p95 = 0] = found.get(owner) ?? [];
          return [owner, { ...summary, p50_latency_ms: p50, p95_latency_ms: p95 }];
        }),
      );
    };
    return context.em.fork().transactional(read, {
      isolationLevel: IsolationLevel.REPEATABLE_READ,
      readOnly: true,
    });
  };

  return {
    /** Hours or days of a time zone, oldest first, each with the models called in it. Empty without calls. */
    async series(
      context: ServiceContext,
      { window_days: windowDays, unit, time_zone: timeZone, key_id: keyId }: UsageSeriesInput,
    ): Promise<UsageSeriesPointOutput[]> {
      const { accountId } = requireViewer(context);
      const now = context.clock.now();
      const keyIds = keyId ? [keyId] : undefined;
      const dirty = await dirtyHoursOf(context, accountId);
      const scope = { accountId, keyIds, dirty, ...seriesBounds({ windowDays, now }) };
      return seriesOf(await countByHourAndModel(context.em, scope), { unit, timeZone, windowDays, now });
    },

    /** Of the whole account, including calls without a key. */
    async ofAccount(context: ServiceContext, input: AnalyticsInput): Promise<AnalyticsOutput> {
      return (await analyse(context, input)).get(null)!;
    },

    /** @throws AppError `not_found`, also for another account's key and for a malformed id. */
    async ofKey(context: ServiceContext, input: AnalyticsInput & { id: string }): Promise<AnalyticsOutput> {
      requireViewer(context);
      const id = idOf(input.id, 'API key');
      const found = (await analyse(context, input, [id])).get(id);
      if (!found) throw notFound('API key');
      return found;
    },

    /** By key id. Keys of other accounts and malformed ids are absent. Takes as many statements as for one key. */
    async ofKeys(
      context: ServiceContext,
      { ids, ...input }: AnalyticsInput & { ids: readonly string[] },
    ): Promise<Map<Owner, AnalyticsOutput>> {
      return analyse(context, input, uuidsOf(ids));
    },
  };
}

/** Exact where an owner has few calls, few have to be read, and all are `kept`; otherwise from sketches. */
async function latencies(
  em: EntityManager,
  scope: Scope,
  summaries: ReadonlyMap<Owner, { total_requests: number }>,
  kept: boolean,
): Promise<Map<Owner, readonly number[]>> {
  const called = [...summaries].filter(([, { total_requests: requests }]) => requests > 0);
  const small = called.filter(([, { total_requests: requests }]) => requests < SKETCH_FROM);
  const isExact = kept && small.length > 0 && (await hasFewCalls(em, scope));
  const exact = new Set(isExact ? small.map(([owner]) => owner) : []);
  const sketched = called.flatMap(([owner]) => (exact.has(owner) ? [] : [owner]));
  const found = new Map<Owner, readonly number[]>();
  if (exact.size > 0) {
    const rows = await exactLatencies(em, scopeOf(scope, [...exact]), QUANTILES);
    for (const { key_id: owner, latencies } of rows) found.set(owner, latencies);
  }
  if (sketched.length > 0) {
    const rows = await latencySketch(em, scopeOf(scope, sketched));
    for (const [owner, sketch] of Map.groupBy(rows, (row) => row.key_id)) {
      found.set(
        owner,
        QUANTILES.map((q) => latencyQuantile(sketch, q)),
      );
    }
  }
  return found;
}

/** The same window for some of its owners. */
const scopeOf = (scope: Scope, owners: readonly Owner[]): Scope =>
  scope.keyIds ? { ...scope, keyIds: owners.filter((owner) => owner !== null) } : scope;
