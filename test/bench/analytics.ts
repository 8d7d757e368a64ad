import { performance } from 'node:perf_hooks';
import { openOrm } from '../../src/db/orm.js';
import { dayStart, hourStart, systemClock } from '../../src/lib/clock.js';
import { newId } from '../../src/lib/ids.js';
import { createAnalyticsService } from '../../src/services/analytics/analytics.service.js';
import { rollUpUsage } from '../../src/services/analytics/rollups.service.js';
import { createVersionStatsService } from '../../src/services/prompts/version-stats.service.js';
import { contextOf } from '../billing/fixtures.js';
import { makeUsageInsertable } from '../support/insertable-usage.js';
import type { Ledger } from './ledger.js';
import { quantile } from './measure.js';

export interface AnalyticsTimes {
  /** Calls of the key within the window. */
  events: number;
  p50: number;
  p99: number;
  /** Statistics of a prompt version that all of those calls named. */
  version: { p50: number; p99: number };
}

const WINDOW_DAYS = 90;
const EVENTS = 10_000_000;
const MODELS = ['gateway/fast', 'gateway/qwen-fast', 'gateway/qwen-pro'];
/** As answers of models are: half of them below 0.8 s, one in a hundred above 4 s (log-normal, by Box and Muller). */
const LATENCY_MS = 'round(exp(ln(800) + 0.7 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())))::int';
const HOUR_MS = 3_600_000;
const TIMES = 40;

/**
 * What the dashboard waits for: analytics of a key with ten million calls in 90 days, all of one prompt version. One hour is rolled up by the
 * product from real events and copied to all others; the open hour's events are raw, as the service finds them.
 */
export async function measureAnalytics(ledger: Ledger): Promise<AnalyticsTimes> {
  const now = systemClock.now();
  const openHour = hourStart(now);
  const hours = (openHour - dayStart(now)) / HOUR_MS + (WINDOW_DAYS - 1) * 24;
  const { rows } = await ledger.pool.query<{ id: string; accountId: string }>(
    'select id, account_id as "accountId" from api_keys limit 1',
  );
  const { id, accountId } = rows[0]!;
  const prompt = await insertPrompt(ledger, accountId);
  await makeUsageInsertable(ledger.pool);
  const insertHour = (from: number): Promise<unknown> =>
    ledger.pool.query(
      `with inserted as (
         insert into usage_events (id, created_at, account_id, key_id, requested_model, served_model, endpoint, stream,
           input_tokens, output_tokens, price_in, price_out, cost, latency_ms, status, http_status, prompt_version_id)
         select gen_random_uuid(), to_timestamp($3::float8 / 1000) + n * interval '1 millisecond', $1, $2, model, model,
           'chat', false, 40, 100, 0.1, 0.3, 0.000034, ${LATENCY_MS}, 'success', 200, $6
         from generate_series(1, $4::int) n cross join lateral (select ($5::text[])[1 + n % 3] as model) m)
       insert into rollup_dirty select to_timestamp($3::float8 / 1000)`,
      [accountId, id, from, Math.round(EVENTS / (hours + 1)), MODELS, prompt.versionId],
    );
  const orm = openOrm({ databaseUrl: ledger.url, processName: 'bench' });
  const context = () => contextOf({ orm }, accountId);
  try {
    await insertHour(openHour - HOUR_MS);
    await rollUpUsage(context());
    await ledger.pool.query(
      `insert into usage_rollups select hour - n * interval '1 hour', account_id, key_id, widget_id, model, requests,
         errors, input_tokens, output_tokens, cost, latency_buckets, latency_counts
       from usage_rollups cross join generate_series(1, $1::int - 1) n`,
      [hours],
    );
    await ledger.pool.query(
      `insert into prompt_version_hours select version_id, hour - n * interval '1 hour', account_id, key_id, model, requests,
         errors, input_tokens, output_tokens, cost, latency_buckets, latency_counts
       from prompt_version_hours cross join generate_series(1, $1::int - 1) n`,
      [hours],
    );
    await ledger.pool.query(
      `insert into rollup_dirty_days select distinct (hour at time zone 'UTC')::date from usage_rollups
       on conflict do nothing`,
    );
    await rollUpUsage(context());
    await insertHour(openHour);
    await ledger.pool.query(
      'analyze usage_rollups, usage_latency_days, prompt_version_hours, prompt_version_latency_days, usage_events',
    );
    const analytics = createAnalyticsService();
    const versions = createVersionStatsService();
    let events = 0;
    const ofKey = await timed(async () => {
      events = (await analytics.ofKey(context(), { id, window_days: WINDOW_DAYS })).total_requests;
    });
    const version = await timed(async () => {
      const input = { id: prompt.id, vid: prompt.versionId, window_days: WINDOW_DAYS };
      const { requests } = await versions.ofVersion(context(), input);
      if (requests !== events) throw new Error(`the version has ${requests} calls, not ${events}`);
    });
    return { events, ...ofKey, version };
  } finally {
    await orm.close(true);
  }
}

async function timed(ask: () => Promise<void>): Promise<{ p50: number; p99: number }> {
  const times: number[] = [];
  for (let i = 0; i < TIMES; i++) {
    const began = performance.now();
    await ask();
    times.push(performance.now() - began);
  }
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

async function insertPrompt({ pool }: Ledger, accountId: string): Promise<{ id: string; versionId: string }> {
  const prompt = { id: newId(), versionId: newId() };
  await pool.query(
    `with made as (
       insert into prompts (id, account_id, slug, name, active_version, last_version, characters, created_at, updated_at)
       values ($1, $3, 'bench', 'Bench', 1, 1, 1, now(), now()))
     insert into prompt_versions (id, prompt_id, version, content, variables, created_at)
     values ($2, $1, 1, 'x', '[]', now())`,
    [prompt.id, prompt.versionId, accountId],
  );
  return prompt;
}
