import type { Pool } from 'pg';
import { queryWithin } from '../db/bounded.js';
import type { RefusedCount } from './refused-calls.store.js';

const TIMEOUT_MS = 5_000;

/**
 * Written in the order of the primary key, so that two edges don't deadlock. The widgets are locked against deletion, so that
 * no count appears after an account was deleted. A widget that another transaction locks is skipped and returned, and its
 * counts are retried: waiting would delay the counts of all others.
 */
const TEXT = `
with held as materialized (
  select id from widgets where id = any($2::uuid[]) for key share skip locked
), added as (
  insert into widget_site_days as s (account_id, widget_id, day, site, outcome, messages, cost)
  select account_id, widget_id, (to_timestamp(hour_ms / 1000.0) at time zone 'UTC')::date as day, site, outcome, sum(messages),
    sum(cost) * 0.000000000001
  from unnest($1::uuid[], $2::uuid[], $3::float8[], $4::text[], $5::text[], $6::bigint[], $7::numeric[])
    as t (account_id, widget_id, hour_ms, site, outcome, messages, cost)
  where widget_id in (select id from held)
  group by 1, 2, 3, 4, 5
  order by 2, 3, 4, 5
  on conflict (widget_id, day, site, outcome) do update set messages = s.messages + excluded.messages,
    cost = s.cost + excluded.cost
)
select id from widgets where id = any($2::uuid[]) and id not in (select id from held)`;

/**
 * Adds the messages of widgets and their cost, by site and outcome, to those in the database, in one statement. `keyId` is
 * the widget, `model` the site. Skips widgets that no longer exist.
 * @returns The counts of locked widgets, which weren't added.
 * @throws Error of the database, or after 5 s
 */
export async function addWidgetOutcomes(
  pool: Pool,
  counts: readonly RefusedCount[],
): Promise<readonly RefusedCount[]> {
  const values = [
    counts.map(({ accountId }) => accountId),
    counts.map(({ keyId }) => keyId),
    counts.map(({ hour }) => hour),
    counts.map(({ model }) => model),
    counts.map(({ code }) => code),
    counts.map(({ calls }) => calls),
    counts.map(({ cost }) => String(cost)),
  ];
  const query = { name: 'metering-widget-outcomes', text: TEXT, values };
  const rows = await queryWithin<{ id: string }>(pool, query, TIMEOUT_MS);
  const locked = new Set(rows.map(({ id }) => id));
  return counts.filter(({ keyId }) => locked.has(keyId));
}
