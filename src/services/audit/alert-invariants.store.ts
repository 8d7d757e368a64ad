import { GRACE, LOOKED_BACK } from './bounds.js';
import type { Invariant } from './invariant.js';
import { during } from './time-slice.rules.js';

/**
 * A delivery takes up to half a minute, and as long again after its holder died; a receiver that hangs delays its own
 * deliveries.
 */
const LONGEST_DELIVERY = `interval '10 minutes'`;

/** Of spend alerts: exactly one per key, month and percentage. */
export const alertInvariants: readonly Invariant[] = [
  {
    name: 'I11-firing',
    guarantee: 'A threshold fires once per key, month and percentage.',
    state: `select key_id as subject from threshold_firings
      group by key_id, month, threshold_pct having count(*) > 1`,
  },
  {
    name: 'I11-event',
    guarantee: 'A subscription gets each firing once.',
    state: `select subscription_id as subject from alert_events where purpose = 'threshold'
      group by subscription_id, key_id, billing_month, threshold_pct having count(*) > 1`,
  },
  {
    name: 'I11-fired',
    guarantee: 'A threshold that is reached has fired, once a call succeeded after it was set.',
    times: (slice) => `with successes as (
        select key_id, to_char(created_at at time zone 'UTC', 'YYYY-MM') as month, max(created_at) as newest
        from usage_events
        where ${during('created_at', slice)} and status = 'success' and key_id in (select key_id from alert_subscriptions where active)
        group by 1, 2)
      select s.id as subject
      from alert_subscriptions s join api_keys k on k.id = s.key_id join successes u on u.key_id = s.key_id
        cross join unnest(s.thresholds_pct) as pct
      where s.active and key_month_spend(s.key_id, u.month) * 100 >= pct * k.monthly_limit_usd
        and u.newest > greatest(s.updated_at, k.monthly_limit_changed_at) + ${GRACE}
        and not exists (
          select from threshold_firings f where (f.key_id, f.month, f.threshold_pct) = (s.key_id, u.month, pct))`,
  },
  {
    name: 'I11-told',
    guarantee: 'Every subscription that listed a percentage when it fired has its event.',
    state: `select s.id as subject
      from threshold_firings f
        join alert_subscriptions s on s.key_id = f.key_id and f.threshold_pct = any(s.thresholds_pct)
      where s.active and s.updated_at < f.fired_at - ${GRACE} and f.fired_at > now() - ${LOOKED_BACK} and not exists (
        select from alert_events e where e.purpose = 'threshold'
          and (e.subscription_id, e.key_id, e.billing_month, e.threshold_pct) = (s.id, f.key_id, f.month, f.threshold_pct))`,
  },
  {
    name: 'I12-pending',
    guarantee: 'An alert that fired, or was asked for again, is delivered or given up.',
    state: `select id as subject from alert_events
      where delivery_status = 'pending' and pending_since < now() - ${LONGEST_DELIVERY}`,
  },
];
