import { GRACE, LOOKED_BACK } from './bounds.js';
import type { Invariant } from './invariant.js';
import { during } from './time-slice.rules.js';

/** Of guards of keys: each acts in time, creates one event, and what it disabled stays disabled. */
export const guardInvariants: readonly Invariant[] = [
  {
    name: 'I14-acted',
    guarantee: 'A guard whose percentage is reached in the current month has acted.',
    // No grace: every transaction that writes spend, a limit or a guard also lets the guard act.
    state: `select g.key_id as subject
      from key_guards g join api_keys k on k.id = g.key_id
        cross join lateral (select to_char(now() at time zone 'UTC', 'YYYY-MM') as month) c
        cross join lateral (select key_month_spend(g.key_id, c.month) as spend) s
      where k.monthly_limit_usd is not null and (g.acted_month is null or g.acted_month < c.month)
        and s.spend > 0 and s.spend * 100 >= g.at_pct * k.monthly_limit_usd`,
  },
  {
    name: 'I14-told',
    guarantee: 'A guard that has acted has an alert event with its action.',
    state: `select g.key_id as subject from key_guards g
      where g.acted_at > now() - ${LOOKED_BACK} and not exists (
        select from alert_events e
        where (e.key_id, e.billing_month, e.fired_at, e.guard_action)
          = (g.key_id, g.acted_month, g.acted_at, g.action))`,
  },
  {
    name: 'I14-once',
    guarantee: 'A subscription gets each action of a guard once.',
    state: `select key_id as subject from alert_events where guard_action is not null and purpose <> 'test'
      group by key_id, subscription_id, fired_at having count(*) > 1`,
  },
  {
    name: 'I14-refused',
    guarantee: 'No call of a key begins after its guard has disabled the key.',
    // An edge that can't reach the database serves its cache for a minute; the grace covers it.
    times: (slice) => `select distinct u.key_id as subject
      from key_guards g join api_keys k on k.id = g.key_id
        join usage_events u on u.key_id = g.key_id and u.created_at > g.acted_at + ${GRACE}
      where ${during('u.created_at', slice)} and g.action = 'disable' and not g.undone and k.monthly_limit_usd is not null
        and to_char(u.created_at at time zone 'UTC', 'YYYY-MM') = g.acted_month
        and u.created_at - u.latency_ms * interval '1 millisecond'
          > greatest(g.acted_at, k.monthly_limit_changed_at) + ${GRACE}`,
  },
];
