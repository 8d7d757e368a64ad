/**
 * Parts of a `with`: `bounded` is `claimed` with the reason why an alert is recorded and not sent, `left_out` or the 300
 * alerts of an account in an hour (docs/decisions/0065-deliveries-are-shared-by-account.md). `order` says which of them
 * are sent first. A part of the functions' text: a change here is a change of each of them.
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
