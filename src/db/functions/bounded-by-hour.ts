/**
 * Makes the part of a `with` that adds to `claimed` the reason why an alert is recorded but not sent: `left_out`, or the limit
 * of 300 alerts per account and hour (docs/decisions/0065-deliveries-are-shared-by-account.md). `order` decides which are sent
 * first. The text is part of the functions that use it, so a change here changes each of them.
 */
export const boundedByHour = (order: string): string => `lately as materialized (
  select account_id, (select count(*) from (
      select from alert_events e
      where e.account_id = c.account_id and e.fired_at > now() - interval '1 hour' and e.purpose <> 'test'
      limit 300) as hour) as n
  from (select distinct account_id from claimed) c
), bounded as (
  select c.*, coalesce(left_out, case when 300 < l.n + row_number() over (
      partition by c.account_id order by ${order})
    then 'Not sent: at most 300 alerts per account and hour are delivered.' end) as reason
  from claimed c join lately l on l.account_id = c.account_id
)`;
