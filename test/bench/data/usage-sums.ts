import type pg from 'pg';

/** What a flush counts beside its events: days of keys and widgets, hours of accounts, hours to roll up. */
const SUMS = [
  `insert into key_spend_days (key_id, day, spend, last_used_at)
   select key_id, (created_at at time zone 'UTC')::date, sum(cost), max(created_at)
   from bench_calls where key_id is not null group by 1, 2`,
  `insert into widget_days (widget_id, day, messages, errors, input_tokens, output_tokens, cost)
   select widget_id, (created_at at time zone 'UTC')::date, count(*) filter (where status = 'success'),
     count(*) filter (where status = 'error'), sum(input_tokens), sum(output_tokens), sum(cost)
   from bench_calls where widget_id is not null group by 1, 2`,
  `insert into widget_site_days (account_id, widget_id, day, site, outcome, messages, cost)
   select w.account_id, widget_id, day, 'site-' || n || '.example.com', outcome, greatest(1, messages / 3),
     case outcome when 'answered' then cost / 3 else 0 end
   from widget_days d join widgets w on w.id = d.widget_id cross join generate_series(1, 3) n
     cross join (values ('answered'), ('widget_rate_limit')) as o(outcome)
   where (widget_id, day) in (select widget_id, (created_at at time zone 'UTC')::date from bench_calls)`,
  `insert into account_usage_hours (account_id, hour, events)
   select account_id, date_trunc('hour', created_at, 'UTC'), count(*) from bench_calls group by 1, 2`,
  `insert into rollup_dirty select distinct date_trunc('hour', created_at, 'UTC') from bench_calls`,
];

export async function writeSums(client: pg.ClientBase): Promise<void> {
  for (const sum of SUMS) await client.query(sum);
}
