import { performance } from 'node:perf_hooks';
import { openOrm } from '../../src/db/orm.js';
import { dayStart, hourStart, systemClock } from '../../src/lib/clock.js';
import { createAnalyticsService } from '../../src/services/analytics/analytics.service.js';
import { rollUpUsage } from '../../src/services/analytics/rollups.service.js';
import { contextOf } from '../billing/fixtures.js';
import type { Ledger } from './ledger.js';
import { quantile } from './measure.js';

export interface AnalyticsTimes {
  /** Calls of the key within the window. */
  events: number;
  p50: number;
  p99: number;
}

const WINDOW_DAYS = 90;
const EVENTS = 10_000_000;
const MODELS = ['gateway/fast', 'gateway/qwen-fast', 'gateway/qwen-pro'];
/** As answers of models are: half of them below 0.8 s, one in a hundred above 4 s (log-normal, by Box and Muller). */
const LATENCY_MS = 'round(exp(ln(800) + 0.7 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())))::int';
const HOUR_MS = 3_600_000;
const TIMES = 40;

/**
 * What the dashboard waits for: analytics of a key with ten million calls in 90 days. One hour is rolled up by the
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
  const insertHour = (from: number): Promise<unknown> =>
    ledger.pool.query(
      `with inserted as (
         insert into usage_events (id, created_at, account_id, key_id, requested_model, served_model, endpoint, stream,
           input_tokens, output_tokens, price_in, price_out, cost, latency_ms, status, http_status)
         select gen_random_uuid(), to_timestamp($3::float8 / 1000) + n * interval '1 millisecond', $1, $2, model, model,
           'chat', false, 40, 100, 0.1, 0.3, 0.000034, ${LATENCY_MS}, 'success', 200
         from generate_series(1, $4::int) n cross join lateral (select ($5::text[])[1 + n % 3] as model) m)
       insert into rollup_dirty select to_timestamp($3::float8 / 1000)`,
      [accountId, id, from, Math.round(EVENTS / (hours + 1)), MODELS],
    );
  const orm = await openOrm({ databaseUrl: ledger.url, processName: 'bench' });
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
      `insert into rollup_dirty_days select distinct (hour at time zone 'UTC')::date from usage_rollups
       on conflict do nothing`,
    );
    await rollUpUsage(context());
    await insertHour(openHour);
    await ledger.pool.query('analyze usage_rollups, usage_latency_days, usage_events');
    const analytics = createAnalyticsService();
    const times: number[] = [];
    let events = 0;
    for (let i = 0; i < TIMES; i++) {
      const began = performance.now();
      const answer = await analytics.ofKey(context(), { id, window_days: WINDOW_DAYS });
      times.push(performance.now() - began);
      events = answer.total_requests;
    }
    return { events, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
  } finally {
    await orm.close(true);
  }
}
