import { Migration } from '@mikro-orm/migrations';

/**
 * The flush of usage becomes one function, called in one round trip, and writes less for each event
 * (docs/decisions/0044-the-flush-is-one-function.md).
 */
export class Migration20261122000000 extends Migration {
  override up(): void {
    this.addSql(noFlush);
    this.addSql(ledger);
    this.addSql(days);
    this.addSql(uuidV7);
    this.addSql(fireAlerts);
    this.addSql(flushUsage);
  }
}

/**
 * A flush of the version before locks its accounts and then writes to the ledger. What follows takes the ledger and then
 * the accounts: without this each would wait for the other, and be ended for it. Accounts can still be read.
 */
const noFlush = 'lock table accounts in exclusive mode';

/**
 * A charge has the id of its event, so that the primary key is what keeps an event from being booked twice. The flush
 * locks the account of every entry, which says more than a foreign key that looks it up once more for each; the
 * other direction, an account that goes and leaves its entries, is refused here.
 */
const ledger = `
alter table ledger_entries add constraint ledger_entries_charge_id check (event_id = id);
drop index ledger_entries_event;
alter table ledger_entries drop constraint ledger_entries_account_id_fkey;
create function keep_ledger() returns trigger language plpgsql as $$
begin
  if exists (select from ledger_entries where account_id = old.id) then
    raise exception 'account % has ledger entries', old.id using errcode = 'restrict_violation';
  end if;
  return old;
end $$;
create trigger accounts_keep_ledger before delete on accounts for each row execute function keep_ledger();
create trigger accounts_no_truncate before truncate on accounts for each statement execute function refuse_change()`;

/**
 * What a key has spent in a month (YYYY-MM, UTC) is the sum of its days: at most 31 rows. Its last use is the newest of
 * its days', which each event updates anyway.
 */
const days = `
alter table key_spend_days add column last_used_at timestamptz(6);
insert into key_spend_days as d (key_id, day, spend, last_used_at)
select id, (last_used_at at time zone 'UTC')::date, 0, last_used_at from api_keys where last_used_at is not null
on conflict (key_id, day) do update set last_used_at = excluded.last_used_at;
alter table api_keys drop column last_used_at;
drop table key_spend_months;
create function key_month_spend(uuid, text) returns numeric language sql stable as $$
  select coalesce(sum(spend), 0) from key_spend_days
  where key_id = $1 and day >= to_date($2, 'YYYY-MM') and day < to_date($2, 'YYYY-MM') + interval '1 month'
$$`;

/** The `nth` of those made at once: within a millisecond they sort by it. PostgreSQL has none before version 18. */
const uuidV7 = `
create function uuid_v7(nth bigint) returns uuid language sql volatile as $$
  select encode(overlay(uuid_send(gen_random_uuid()) placing
    substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
      || int2send((x'7000'::integer + nth % 4096)::smallint) from 1 for 8), 'hex')::uuid
$$`;

/**
 * What the events just written reach, told once: the firing is claimed, and an event goes into the outbox for each
 * subscription that lists it, and for each low balance. It sees the spend after those events, and under the lock of
 * their accounts whoever writes usage of the same keys waits.
 * `usage_events.xmin` tells what this transaction inserted: an event that was there already was evaluated then.
 * Look-ups are lateral or scalar subqueries and not joins: a plan that was made while tables were small stays, and
 * must not read them from end to end, nor all of an account's events.
 */
const fireAlerts = `
create function fire_alerts(p_at timestamptz[], p_account uuid[], p_key uuid[], p_cost numeric[], p_status text[],
  p_most_mails integer, p_too_many text, out alerted text) language plpgsql volatile
  set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
with called as materialized (
  select key_id, to_char(at at time zone 'UTC', 'YYYY-MM') as month, min(at) as since, max(at) as until
  from unnest(p_at, p_key, p_status) as t(at, key_id, status)
  where key_id is not null and status = 'success' group by 1, 2
), subscribed as materialized (
  select s.*, c.month, c.since, c.until
  from called c cross join lateral (
    select id, account_id, key_id, kind, destination, thresholds_pct from alert_subscriptions
    where key_id = c.key_id and active offset 0) s
), measured as materialized (
  select s.*, k.*, key_month_spend(s.key_id, s.month) as spend
  from subscribed s cross join lateral (
    select name, key_prefix || '…' || last_four as key_prefix, monthly_limit_usd from api_keys
    where id = s.key_id and account_id = s.account_id and monthly_limit_usd is not null offset 0) k
), above as materialized (
  select m.*, pct from measured m cross join unnest(m.thresholds_pct) as pct
  where m.spend * 100 >= pct * m.monthly_limit_usd
), reached as materialized (
  select * from above a
  where (select true from threshold_firings f
      where f.key_id = a.key_id and f.month = a.month and f.threshold_pct = a.pct) is null
    and (select true from usage_events u
      where u.account_id = a.account_id and u.key_id = a.key_id and u.status = 'success'
        and u.created_at between a.since and a.until and u.xmin = pg_current_xact_id()::xid limit 1)
), fired as (
  insert into threshold_firings (key_id, month, threshold_pct, fired_at)
  select distinct key_id, month, pct, now() from reached order by 1, 2, 3
  on conflict do nothing
  returning key_id, month, threshold_pct
), low as (
  update accounts set low_balance_armed = false
  where id = any(array(select distinct account_id from unnest(p_account, p_cost) as t(account_id, cost) where cost > 0))
    and low_balance_armed and balance < low_balance_threshold_usd
  returning id, email, balance
), claimed as (
  select 'threshold' as purpose, r.account_id, r.key_id, r.id as subscription_id, r.kind, r.destination,
    r.name as key_name, r.key_prefix, r.pct as threshold_pct, r.month as billing_month, r.spend,
    r.monthly_limit_usd as monthly_limit, null::numeric as balance,
    r.kind = 'email' and p_most_mails < row_number() over (partition by r.id, r.month order by r.pct) + (
      select count(*) from alert_events e
      where e.purpose = 'threshold' and e.subscription_id = r.id and e.key_id = r.key_id
        and e.billing_month = r.month) as over_limit
  from fired f join reached r on r.key_id = f.key_id and r.month = f.month and r.pct = f.threshold_pct
  union all
  select 'low_balance', id, null, null, 'email', email, null, null, null, null, null, null, balance, false
  from low where email is not null
), told as (
  insert into alert_events (id, account_id, key_id, subscription_id, purpose, kind, destination, key_name, key_prefix,
    threshold_pct, billing_month, spend, monthly_limit, balance, fired_at, pending_since, delivery_status,
    next_attempt_at, finished_at, error_message)
  select uuid_v7(row_number() over (order by billing_month, threshold_pct)), account_id, key_id, subscription_id,
    purpose, kind, destination, key_name, key_prefix, threshold_pct, billing_month, spend, monthly_limit, balance,
    now(), now(),
    case when over_limit then 'failed' else 'pending' end, case when not over_limit then now() end,
    case when over_limit then now() end, case when over_limit then p_too_many end
  from claimed
  -- A conflict can't be, but through a hand in the tables: usage must not be refused for it.
  on conflict do nothing
  returning account_id
)
select string_agg(distinct account_id::text, ' ') into alerted from told;
end $$`;

/**
 * Writes a batch of events and all that follows from them; sent twice it changes nothing. Amounts arrive as whole
 * numbers of 1e-12 dollars, times as milliseconds. Each array has one element per event, but for \`p_accounts\`: the
 * accounts of the batch, each once.
 *
 * Events of accounts that don't exist are left out and those accounts named in \`unknown\`. \`balances\` and
 * \`key_days\` are lines of where accounts and keys stand now, whether by these events or before; \`alerted\` the
 * accounts that have new alert events.
 *
 * - The accounts are locked in order in a statement of its own, so that flushes take turns and the next statement
 *   sees the balances as they are under the lock. \`no key\`: nothing here changes an account's id.
 * - Only rows really inserted are charged. An event is not inserted when its primary key is there, when its id was
 *   charged before under another time, or when it says that the process died while the finished call is there.
 * - The hours of \`rollup_dirty\` are only ever added: a row that was there already could be taken by a roll-up that
 *   doesn't see this transaction yet.
 * - Rows that are nearly always there (days, hours) are updated, and inserted when fewer were found. The look-up in the
 *   ledger is a scalar subquery: as an anti-join it becomes a hash over the whole ledger wherever statistics are older
 *   than the load. The settings are for the same reason: plans stay with the connection, and one that was made while
 *   tables were empty must not read them from end to end when they have grown. The time zone is set since naming one
 *   costs more than all other work on a time.
 */
const flushUsage = `
create function flush_usage(p_accounts uuid[], p_id uuid[], p_at_ms bigint[], p_account uuid[], p_key uuid[],
  p_widget uuid[], p_requested text[], p_served text[], p_endpoint text[], p_stream boolean[], p_input integer[],
  p_output integer[], p_price_in numeric[], p_price_out numeric[], p_cost numeric[], p_latency_ms integer[],
  p_ttft_ms integer[], p_status text[], p_error text[], p_http_status integer[], p_aborted boolean[],
  p_estimated boolean[], p_anomalous boolean[], p_most_mails integer, p_too_many text,
  out inserted integer, out unknown text, out balances text, out key_days text, out alerted text)
language plpgsql volatile set timezone = 'UTC' set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  known uuid[];
  complete boolean;
  charged_accounts integer;
  watched boolean;
begin
  select array_agg(id) into known
  from (select id from accounts where id = any(p_accounts) order by id for no key update) as locked;
  complete := coalesce(cardinality(known), 0) = cardinality(p_accounts);
  if not complete then
    select string_agg(id::text, ' ') into unknown from unnest(p_accounts) as id where id <> all(coalesce(known, '{}'));
  end if;

  with e as (
    select id, timestamptz 'epoch' + at_ms * interval '1 millisecond' as created_at, account_id, key_id, widget_id,
      requested_model, served_model, endpoint, stream, input_tokens, output_tokens, price_in * 0.000001 as price_in,
      price_out * 0.000001 as price_out, cost * 0.000000000001 as cost, latency_ms, ttft_ms, status, error_code,
      http_status, client_aborted, estimated, anomalous
    from unnest(p_id, p_at_ms, p_account, p_key, p_widget, p_requested, p_served, p_endpoint, p_stream, p_input,
      p_output, p_price_in, p_price_out, p_cost, p_latency_ms, p_ttft_ms, p_status, p_error, p_http_status, p_aborted,
      p_estimated, p_anomalous)
      as t(id, at_ms, account_id, key_id, widget_id, requested_model, served_model, endpoint, stream, input_tokens,
        output_tokens, price_in, price_out, cost, latency_ms, ttft_ms, status, error_code, http_status, client_aborted,
        estimated, anomalous)
    where complete or account_id = any(known)
  ), inserted_events as (
    insert into usage_events (id, created_at, account_id, key_id, widget_id, requested_model, served_model, endpoint,
      stream, input_tokens, output_tokens, price_in, price_out, cost, latency_ms, ttft_ms, status, error_code,
      http_status, client_aborted, estimated, anomalous)
    select id, created_at, account_id, key_id, widget_id, requested_model, served_model, endpoint, stream,
      input_tokens, output_tokens, price_in, price_out, cost, latency_ms, ttft_ms, status, error_code, http_status,
      client_aborted, estimated, anomalous
    from e
    where (select true from ledger_entries l where l.id = e.id) is null
      and not (e.error_code is not distinct from 'gateway_terminated' and exists (
        select from usage_events u where u.account_id = e.account_id and u.id = e.id
          and u.created_at >= e.created_at and u.created_at < e.created_at + interval '1 day'))
    on conflict (created_at, id) do nothing
    returning id, created_at, account_id, key_id, cost, price_in, price_out
  ), charged as (
    select i.*, row_number() over w as nth, sum(i.cost) over w as upto
    from inserted_events i where i.cost > 0
    window w as (partition by i.account_id order by i.created_at, i.id)
  ), entries as (
    insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, event_id, price_in, price_out, created_at)
    select c.id, c.account_id, a.ledger_seq + c.nth, 'usage', -c.cost, a.balance - c.upto, c.id, c.price_in,
      c.price_out, c.created_at
    from charged c join accounts a on a.id = c.account_id
  ), accounts_now as (
    update accounts a set balance = a.balance - t.total, ledger_seq = a.ledger_seq + t.entries
    from (select account_id, count(*) as entries, sum(cost) as total from charged group by account_id) t
    where a.id = t.account_id
    returning a.id, a.balance, a.ledger_seq, a.low_balance_armed and a.balance < a.low_balance_threshold_usd as low
  ), spent as (
    select key_id, created_at::date as day, sum(cost) as spend, max(created_at) as last_used_at
    from inserted_events where key_id is not null group by 1, 2
  ), days as (
    update key_spend_days d set spend = d.spend + s.spend, last_used_at = greatest(d.last_used_at, s.last_used_at)
    from spent s where d.key_id = s.key_id and d.day = s.day
    returning d.key_id, d.day, d.spend
  ), new_days as (
    insert into key_spend_days as d (key_id, day, spend, last_used_at)
    select key_id, day, spend, last_used_at from spent s
    where (select count(*) from days) < (select count(*) from spent)
      and not exists (select from days d where d.key_id = s.key_id and d.day = s.day)
    on conflict (key_id, day) do update set spend = d.spend + excluded.spend,
      last_used_at = greatest(d.last_used_at, excluded.last_used_at)
    returning key_id, day, spend
  ), seen as (
    select account_id, date_trunc('hour', created_at) as hour, count(*) as events
    from inserted_events group by 1, 2
  ), hours as (
    update account_usage_hours h set events = h.events + s.events
    from seen s where h.account_id = s.account_id and h.hour = s.hour
    returning h.account_id, h.hour
  ), new_hours as (
    insert into account_usage_hours as h (account_id, hour, events)
    select account_id, hour, events from seen s
    where (select count(*) from hours) < (select count(*) from seen)
      and not exists (select from hours h where h.account_id = s.account_id and h.hour = s.hour)
    on conflict (account_id, hour) do update set events = h.events + excluded.events
  ), dirty as (
    insert into rollup_dirty (hour) select distinct hour from seen
  )
  select (select count(*) from inserted_events), (select count(*) from accounts_now),
    (select string_agg(id || ' ' || balance || ' ' || ledger_seq, ',') from accounts_now),
    (select string_agg(key_id || ' ' || day || ' ' || spend, ',')
      from (select * from days union all select * from new_days) as days_now),
    exists (select from accounts_now where low)
      or exists (select from alert_subscriptions where key_id = any(p_key) and active)
  into inserted, charged_accounts, balances, key_days, watched;

  if charged_accounts < cardinality(known) then
    select string_agg(id || ' ' || balance || ' ' || ledger_seq, ',') into balances
    from accounts where id = any(known);
  end if;
  if inserted < cardinality(p_id) then
    select string_agg(s.key_id || ' ' || s.day || ' ' || s.spend, ',') into key_days
    from (select distinct key_id, (timestamptz 'epoch' + at_ms * interval '1 millisecond')::date as day
        from unnest(p_key, p_at_ms) as t(key_id, at_ms) where key_id is not null) touched
      cross join lateral (
        select * from key_spend_days d where d.key_id = touched.key_id and d.day = touched.day offset 0) s;
  end if;
  if inserted > 0 and watched then
    alerted := fire_alerts(array(select timestamptz 'epoch' + at_ms * interval '1 millisecond' from unnest(p_at_ms) as at_ms),
      p_account, p_key, p_cost, p_status, p_most_mails, p_too_many);
  end if;
end $$`;
