import { IsolationLevel } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { requireViewer, type ServiceContext } from '../../context.js';
import { AppError } from '../../errors.js';
import { DAY_MS, dayStart } from '../../lib/clock.js';
import { isUuid } from '../../lib/ids.js';
import { latencyQuantile } from '../../lib/latency-sketch.js';
import { ownsKey } from '../keys/keys.store.js';
import type { AnalyticsInput } from './analytics.inputs.js';
import type { AnalyticsOutput } from './analytics.outputs.js';
import { summarise } from './analytics.rules.js';
import {
  countAccountEvents,
  countByDayAndModel,
  exactLatencies,
  latencySketch,
  type Scope,
} from './analytics.store.js';

const QUANTILES = [0.5, 0.95] as const;
/** Calls in the window from which on latencies come from sketches. */
const SKETCH_FROM = 50_000;
/** Events of the account that may be read for the exact latencies of one of its keys. */
const MAX_READ = 500_000;

/** What happened in the last days: of the viewer's account, or of one of its keys. */
export function createAnalyticsService() {
  /** On one snapshot, so that an hour that is rolled up meanwhile counts once. */
  const analyse = async (
    context: ServiceContext,
    { window_days: windowDays, ends_days_ago: endsDaysAgo = 0 }: AnalyticsInput,
    keyId?: string,
  ): Promise<AnalyticsOutput> => {
    const { accountId } = requireViewer(context);
    const now = context.clock.now() - endsDaysAgo * DAY_MS;
    const today = dayStart(now);
    const scope: Scope = {
      accountId,
      keyId,
      from: new Date(today - (windowDays - 1) * DAY_MS),
      until: new Date(today + DAY_MS),
    };
    const read = async (em: EntityManager): Promise<AnalyticsOutput> => {
      if (keyId !== undefined && !(await ownsKey(em, { accountId, keyId }))) throw new AppError('not_found');
      const summary = summarise(await countByDayAndModel(em, scope), { windowDays, now });
      const [p50 = 0, p95 = 0] = await latencies(em, scope, summary.total_requests);
      return { ...summary, p50_latency_ms: p50, p95_latency_ms: p95 };
    };
    return context.em.fork().transactional(read, {
      isolationLevel: IsolationLevel.REPEATABLE_READ,
      readOnly: true,
    });
  };

  return {
    /** Of the whole account, calls without a key included. */
    async ofAccount(context: ServiceContext, input: AnalyticsInput): Promise<AnalyticsOutput> {
      return analyse(context, input);
    },

    /** @throws AppError `not_found`, also for another's key and for a malformed id. */
    async ofKey(context: ServiceContext, input: AnalyticsInput & { id: string }): Promise<AnalyticsOutput> {
      requireViewer(context);
      if (!isUuid(input.id)) throw new AppError('not_found');
      return analyse(context, input, input.id);
    },
  };
}

export type AnalyticsService = ReturnType<typeof createAnalyticsService>;

async function latencies(em: EntityManager, scope: Scope, requests: number): Promise<readonly number[]> {
  if (requests === 0) return [];
  if (requests < SKETCH_FROM && (await countAccountEvents(em, scope)) < MAX_READ) {
    return (await exactLatencies(em, scope, QUANTILES)) ?? [];
  }
  const sketch = await latencySketch(em, scope);
  return QUANTILES.map((q) => latencyQuantile(sketch, q));
}
