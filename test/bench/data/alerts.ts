import type { Filling } from './fill.js';

/** Accounts with monthly limits and alerts, by rank. */
const OWNERS = 1_000;
const LIMITED = `select k.* from bench_accounts b join api_keys k on k.account_id = b.id
  where monthly_limit_usd is not null`;

/**
 * Monthly limits a tenth above the key's dearest month, two subscriptions of each such key, a guard that hasn't acted,
 * and what fired: each percentage in the month and on the day when the spend reached it.
 */
export async function fillAlerts({ client, from, now }: Filling): Promise<void> {
  await client.query(
    `update api_keys k set monthly_limit_usd = round(m.most * 1.1 + 0.01, 2), monthly_limit_changed_at = k.created_at
     from (select key_id, max(spend) as most from (
         select key_id, date_trunc('month', day), sum(spend) as spend from key_spend_days group by 1, 2) months
       group by 1) m, bench_accounts b
     where m.key_id = k.id and b.id = k.account_id and b.nth <= $1`,
    [OWNERS],
  );
  await client.query(
    `insert into alert_subscriptions (id, account_id, key_id, kind, destination, thresholds_pct, created_at, updated_at)
     select uuidv7($1::timestamptz - clock_timestamp()), k.account_id, k.id, 'email', 'ops-' || n || '@bench.example.com',
       '{50,80,100}', $1, $1
     from (${LIMITED}) k cross join generate_series(1, 2) n`,
    [from],
  );
  await client.query(
    `insert into key_guards (key_id, at_pct, action) select id, 100, 'slow' from (${LIMITED}) k`,
  );
  await client.query(
    `insert into threshold_firings (key_id, month, threshold_pct, fired_at)
     select key_id, to_char(day, 'YYYY-MM'), pct, min(last_used_at)
     from (select d.*, monthly_limit_usd, sum(spend) over (partition by key_id, date_trunc('month', day) order by day) as upto
         from key_spend_days d join (${LIMITED}) k on k.id = d.key_id) days
       cross join unnest('{50,80,100}'::smallint[]) as pct
     where upto * 100 >= pct * monthly_limit_usd
     group by 1, 2, 3`,
  );
  await client.query(
    `insert into alert_events (id, account_id, key_id, subscription_id, purpose, kind, destination, key_name, key_prefix,
       threshold_pct, billing_month, spend, monthly_limit, fired_at, pending_since, delivery_status, attempts, finished_at)
     select uuidv7(f.fired_at - clock_timestamp()), s.account_id, k.id, s.id, 'threshold', s.kind, s.destination, k.name,
       k.key_prefix || '…' || k.last_four, f.threshold_pct, f.month, k.monthly_limit_usd * f.threshold_pct / 100,
       k.monthly_limit_usd, f.fired_at, f.fired_at, 'sent', 1, f.fired_at + interval '2 seconds'
     from threshold_firings f join (${LIMITED}) k on k.id = f.key_id join alert_subscriptions s on s.key_id = f.key_id`,
  );
  await client.query(
    `insert into refused_call_hours (account_id, hour, key_id, code, model, calls, last_at, ids)
     select b.id, hour, keys[1 + n % cardinality(keys)], code, 'gateway/fast', 1 + n % 9, hour + interval '10 minutes',
       case when hour > $2::timestamptz - interval '30 days'
         then array[uuidv7(hour + interval '10 minutes' - clock_timestamp())] else '{}' end
     from bench_accounts b cross join lateral generate_series(1, 3 + (calls / 400)::int) n
       cross join lateral (select date_trunc('hour', case when n <= 3 then $2::timestamptz - n * interval '3 hours'
           else $1::timestamptz + ($2::timestamptz - $1::timestamptz) * random() end, 'UTC') as hour,
         (array['rate_limit_exceeded', 'model_not_allowed', 'invalid_body'])[1 + n % 3] as code) r
     on conflict do nothing`,
    [from, now],
  );
}
