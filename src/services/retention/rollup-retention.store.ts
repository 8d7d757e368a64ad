import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { UsageLatencyDay } from '../../entities/analytics/usage-latency-day.js';
import { UsageRollup } from '../../entities/analytics/usage-rollup.js';
import { AccountBandHour } from '../../entities/leaderboard/account-band-hour.js';
import { ModelAccountHour } from '../../entities/leaderboard/model-account-hour.js';
import { ModelBandHour } from '../../entities/leaderboard/model-band-hour.js';
import { ModelHour } from '../../entities/leaderboard/model-hour.js';
import { NodeHour } from '../../entities/nodes/node-hour.js';
import { PromptVersionHour } from '../../entities/prompts/prompt-version-hour.js';
import { PromptVersionLatencyDay } from '../../entities/prompts/prompt-version-latency-day.js';
import { DAY_MS, utcDay } from '../../lib/clock.js';
import { lockRollups } from '../analytics/rollups.store.js';

/** The first UTC day with roll-ups, as its midnight; null without any. */
export async function oldestRollupDay(em: EntityManager): Promise<Date | null> {
  const { rows } = await sql<{ day_ms: number | null }>`
    select (extract(epoch from date_trunc('day', min(hour), 'UTC')) * 1000)::float8 as day_ms
    from usage_rollups`.execute(em.getKysely());
  const ms = rows[0]?.day_ms ?? null;
  return ms === null ? null : new Date(ms);
}

/**
 * Deletes the roll-ups of a UTC day and the latencies merged from them, unless another process is rolling up.
 * @returns the number of deleted roll-ups; undefined if nothing was done.
 */
export async function removeRollups(em: EntityManager, day: Date): Promise<number | undefined> {
  if (!(await lockRollups(em))) return undefined;
  const ofDay = { hour: { $lt: new Date(day.getTime() + DAY_MS) } };
  const removed = await em.nativeDelete(UsageRollup, ofDay);
  await em.nativeDelete(PromptVersionHour, ofDay);
  await em.nativeDelete(ModelHour, ofDay);
  await em.nativeDelete(ModelAccountHour, ofDay);
  await em.nativeDelete(AccountBandHour, ofDay);
  await em.nativeDelete(ModelBandHour, ofDay);
  await em.nativeDelete(NodeHour, ofDay);
  const upToDay = { day: { $lte: utcDay(day.getTime()) } };
  await em.nativeDelete(UsageLatencyDay, upToDay);
  await em.nativeDelete(PromptVersionLatencyDay, upToDay);
  return removed;
}
