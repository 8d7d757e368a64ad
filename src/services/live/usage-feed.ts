import type { ServiceContext } from '../../context.js';
import type { UsageItemOutput } from '../billing/billing.outputs.js';
import type { StreamSource } from './account-stream.js';
import { createAccountStreams } from './account-streams.js';
import type { Signals } from './signals.js';
import {
  type FreshQuery,
  type FreshUsage,
  freshUsage,
  type UsageInstant,
  usageInstant,
} from './usage-feed.store.js';

const SECOND_MS = 1_000;
/**
 * How far back to search for newly committed events. The first range nearly always suffices; the counts per hour show
 * when it didn't. Older events than the last range aren't delivered: a process that was dead for a day has no live
 * news.
 */
const LOOK_BACK_MS = [2 * SECOND_MS, 600 * SECOND_MS, 24 * 3_600 * SECOND_MS] as const;
const BOUNDARY_MS = LOOK_BACK_MS.at(-1)!;
/** The first range ends here: clocks of edges are not ahead of the platform's by more. */
const AHEAD_MS = 3_600 * SECOND_MS;
const PAGE = 500;

export interface UsageFeed {
  /**
   * New usage events of the viewer as they are committed, each exactly once. A slow reader gets
   * them later, but doesn't lose any.
   */
  usageRecorded(context: ServiceContext): Promise<AsyncIterableIterator<UsageItemOutput>>;
}

export function createUsageFeed({ signals }: { signals: Signals }): UsageFeed {
  const follow = createAccountStreams<UsageMoment, UsageItemOutput>({
    onSignal: signals.onUsage,
    readsAtOnce: 2,
    sourceOf: usageSource,
  });
  return { usageRecorded: follow };
}

/** The known state and when it was read (milliseconds). */
interface UsageMoment {
  known: UsageInstant;
  readAtMs: number;
  /** Position within the remaining pages. */
  rest?: Pick<FreshQuery, 'seen' | 'fromMs'> & { after: NonNullable<FreshQuery['rest']> };
}

function usageSource(context: ServiceContext, accountId: string): StreamSource<UsageMoment, UsageItemOutput> {
  const { em, clock, log } = context;
  const boundaryMs = clock.now() - BOUNDARY_MS;
  const read = (query: Pick<FreshQuery, 'seen' | 'fromMs' | 'untilMs' | 'rest'>): Promise<FreshUsage> =>
    freshUsage(em, { accountId, boundaryMs, limit: PAGE, ...query });

  /** Searches further back until as many events are found as were counted. */
  const firstPage = async ({
    known,
    readAtMs,
  }: UsageMoment): Promise<{ page: FreshUsage; fromMs: number }> => {
    let found: { page: FreshUsage; fromMs: number } | undefined;
    for (const lookBackMs of LOOK_BACK_MS) {
      const fromMs = Math.max(readAtMs - lookBackMs, boundaryMs);
      // Nearly every read: without an end, PostgreSQL plans the partitions of the future as well.
      const untilMs = lookBackMs === LOOK_BACK_MS[0] ? clock.now() + AHEAD_MS : undefined;
      const page = await read({ seen: known.snapshot, fromMs, untilMs });
      found = { page, fromMs };
      if (page.found >= page.events - known.events) return found;
    }
    log.warn({ accountId }, "usage older than a day was committed; it isn't streamed to subscribers");
    return found!;
  };

  const handOut = (
    page: FreshUsage,
    whole: UsageMoment,
    { seen, fromMs, upTo }: { seen: string; fromMs: number; upTo: string },
  ): { rows: UsageItemOutput[]; to: UsageMoment } => {
    const rows = page.rows.map(withoutPosition);
    const last = page.rows.at(-1);
    if (!last || page.rows.length < PAGE) return { rows, to: whole };
    const after = { upTo, afterUs: last.createdUs, afterId: last.id };
    return { rows, to: { ...whole, rest: { seen, fromMs, after } } };
  };

  return {
    async begin() {
      const readAtMs = clock.now();
      return { known: await usageInstant(em, accountId, boundaryMs), readAtMs };
    },
    async advance(from) {
      if (from.rest) {
        const { seen, fromMs, after } = from.rest;
        const page = await read({ seen, fromMs, rest: after });
        const { known, readAtMs } = from;
        return handOut(page, { known, readAtMs }, { seen, fromMs, upTo: after.upTo });
      }
      const readAtMs = clock.now();
      const { page, fromMs } = await firstPage(from);
      const { snapshot, events } = page;
      const whole = { known: { snapshot, events }, readAtMs };
      return handOut(page, whole, { seen: from.known.snapshot, fromMs, upTo: snapshot });
    },
    isWhole: ({ rest }) => rest === undefined,
  };
}

const withoutPosition = ({ createdUs: _createdUs, ...event }: FreshUsage['rows'][number]): UsageItemOutput =>
  event;
