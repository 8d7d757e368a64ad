import { setTimeout as delay } from 'node:timers/promises';
import { requireViewer, type ServiceContext } from '../../context.js';
import { isDatabaseOutage } from '../../lib/database-outage.js';
import { createGate } from '../../lib/gate.js';
import type { UsageItemOutput } from '../billing/billing.outputs.js';
import { Bell } from './bell.js';
import { endable } from './endable.js';
import type { Signals } from './signals.js';
import {
  type FreshQuery,
  type FreshUsage,
  freshUsage,
  type UsageInstant,
  usageInstant,
} from './usage-feed.store.js';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
/**
 * How far back what was committed just now may have been completed. The first nearly always suffices; the counts per hour
 * say when it didn't. What is older than the last isn't told: a process that was dead for a day has no live news.
 */
const LOOK_BACK_MS = [2 * SECOND_MS, 600 * SECOND_MS, 24 * HOUR_MS] as const;
const BOUNDARY_MS = LOOK_BACK_MS.at(-1)!;
const PAGE = 500;
/** A signal that was lost costs at most so long. */
const PATIENCE_MS = 30 * SECOND_MS;
const RETRY_MS = SECOND_MS;
/** Readers of all subscriptions together: they must not take the connections of requests. */
const READERS = { atOnce: 2, waiting: 10_000 };

export interface UsageFeed {
  /**
   * Each usage event of the viewer once it is committed, from now on: none is left out and none comes twice. Whoever reads
   * slowly is told later, never less.
   */
  usageRecorded(context: ServiceContext): Promise<AsyncIterableIterator<UsageItemOutput>>;
}

export function createUsageFeed({ signals }: { signals: Signals }): UsageFeed {
  const gate = createGate(READERS);
  return {
    async usageRecorded(context) {
      const { accountId } = requireViewer(context);
      const bell = new Bell();
      const leave = signals.onUsage(accountId, () => bell.ring());
      const end = (): void => {
        leave();
        bell.stop();
      };
      const boundaryMs = context.clock.now() - BOUNDARY_MS;
      try {
        const start = await gate.run(() => usageInstant(context.em, accountId, boundaryMs));
        const reader = { context, accountId, boundaryMs, bell, run: gate.run };
        return endable(follow(reader, start), end);
      } catch (error) {
        end();
        throw error;
      }
    },
  };
}

interface Reader {
  context: ServiceContext;
  accountId: string;
  boundaryMs: number;
  bell: Bell;
  run<T>(task: () => Promise<T>): Promise<T>;
}

async function* follow(reader: Reader, start: UsageInstant): AsyncGenerator<UsageItemOutput, void> {
  const { bell, accountId, boundaryMs, context } = reader;
  let known = start;
  let readAtMs = context.clock.now();
  while (!bell.stopped) {
    await bell.wait(PATIENCE_MS);
    const base = { accountId, boundaryMs, seen: known.snapshot, limit: PAGE };
    const startedAtMs = context.clock.now();
    const first = await firstPage(reader, base, known, readAtMs);
    if (!first) return;
    for (let page: FreshUsage | undefined = first.page; page; ) {
      yield* page.rows.map(withoutPosition);
      const last = page.rows.at(-1);
      if (!last || page.rows.length < PAGE) break;
      const rest = { upTo: first.page.snapshot, afterUs: last.createdUs, afterId: last.id };
      page = await read(reader, { ...base, fromMs: first.fromMs, rest });
    }
    known = first.page;
    readAtMs = startedAtMs;
  }
}

/** Looks further back until as many events are found as were counted. Undefined: it is over. */
async function firstPage(
  reader: Reader,
  base: Omit<FreshQuery, 'fromMs'>,
  known: UsageInstant,
  readAtMs: number,
): Promise<{ page: FreshUsage; fromMs: number } | undefined> {
  let found: { page: FreshUsage; fromMs: number } | undefined;
  for (const lookBackMs of LOOK_BACK_MS) {
    const fromMs = Math.max(readAtMs - lookBackMs, reader.boundaryMs);
    const page = await read(reader, { ...base, fromMs });
    if (!page) return undefined;
    found = { page, fromMs };
    if (page.found >= page.events - known.events) return found;
  }
  reader.context.log.warn(
    { accountId: reader.accountId },
    'usage that is older than a day was committed: not told live',
  );
  return found;
}

/** Reads, and while the database is away tries again. Undefined: nobody waits any more. */
async function read({ context, bell, run }: Reader, query: FreshQuery): Promise<FreshUsage | undefined> {
  while (!bell.stopped) {
    try {
      return await run(() => freshUsage(context.em, query));
    } catch (error) {
      if (!isDatabaseOutage(error)) throw error;
      await delay(RETRY_MS);
    }
  }
  return undefined;
}

const withoutPosition = ({ createdUs: _createdUs, ...event }: FreshUsage['rows'][number]): UsageItemOutput =>
  event;
