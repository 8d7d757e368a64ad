import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { AlertKind } from '../../entities/alerts/alert-subscription.js';
import type { TakenAlert } from './delivery.store.js';

/** Slots for deliveries of one kind in this process. */
export interface Places {
  total: number;
  /** Slots reserved for accounts that have no delivery in progress and whose receivers respond in time. */
  reserved: number;
  /** Maximum deliveries of one account to one receiver. */
  perLane: number;
  /** Maximum deliveries of one account. */
  perAccount: number;
}

/** Who holds slots, and who gets the next. */
export interface Room extends Omit<Places, 'perAccount'> {
  kind: AlertKind;
  running: readonly Pick<TakenAlert, 'lane' | 'accountId'>[];
  /** Shares of the accounts that have others than `perAccount` because their deliveries were slow. */
  shares: ReadonlyMap<string, number>;
  perAccount: number;
  /** The account that was served last: the round continues after it. */
  after: string;
}

export interface DeliveryBatch {
  alerts: TakenAlert[];
  /** The account that was served last. */
  after: string;
}

/**
 * Maximum pairs of account and receiver visited by one look, and maximum of one account: they limit the cost of a
 * look.
 */
const MOST_LANES = 1_000;
const LANES_OF_ACCOUNT = 16;
const LAST_LANE = '9223372036854775807';

/** The holders of slots in this process, and the accounts that may take no more. */
const held = (room: Room) => sql`
  running as materialized (
    select * from unnest(${room.running.map((one) => one.accountId)}::uuid[],
      ${room.running.map((one) => one.lane)}::bigint[]) as r(account_id, lane)
  ), slow as materialized (
    select * from unnest(${[...room.shares.keys()]}::uuid[], ${[...room.shares.values()]}::int[]) as s(account_id, share)
  ), full_accounts as materialized (
    select r.account_id from running r left join slow using (account_id)
    group by 1 having count(*) >= min(coalesce(share, ${room.perAccount}))
  )`;

/**
 * Pairs of account and receiver with pending alerts, one index step each. Begins after the account that was served
 * last and ends with it; skips accounts without a free share.
 */
const ring = (room: Room) => sql`
  ring as (
    select ${room.after}::uuid as account_id, ${LAST_LANE}::bigint as lane, 0 as of_account, 0 as lap, 0 as nth
    union all
    select next.account_id, next.lane, case when next.account_id = ring.account_id then ring.of_account + 1 else 1 end,
      next.lap, ring.nth + 1
    from ring cross join lateral (
      (select e.account_id, e.lane, ring.lap from alert_events e
        where e.delivery_status = 'pending' and e.kind = ${room.kind} and (e.account_id, e.lane) > (ring.account_id,
          case when ring.of_account >= ${LANES_OF_ACCOUNT} or ring.account_id in (select account_id from full_accounts)
            then ${LAST_LANE}::bigint else ring.lane end)
        order by e.account_id, e.lane limit 1)
      union all
      (select e.account_id, e.lane, 1 from alert_events e
        where ring.lap = 0 and e.delivery_status = 'pending' and e.kind = ${room.kind}
        order by e.account_id, e.lane limit 1)
      limit 1) next
    where ring.nth < ${MOST_LANES} and not (next.lap = 1 and next.account_id > ${room.after}::uuid)
  )`;

/** The oldest due alerts of each pair, and the order in which they get slots. */
const picked = (room: Room) => sql`
  due as (
    select e.*, ring.nth, ring.account_id from ring cross join lateral (
      select id, next_attempt_at from alert_events e
      where e.delivery_status = 'pending' and e.kind = ${room.kind} and e.account_id = ring.account_id
        and e.lane = ring.lane and e.next_attempt_at <= now()
      order by e.next_attempt_at
      limit greatest(0, ${room.perLane} - (
        select count(*) from running r where r.account_id = ring.account_id and r.lane = ring.lane))) e
    where ring.nth > 0
  ), placed as (
    select due.*, slow.account_id is not null as is_slow, coalesce(slow.share, ${room.perAccount}) as share,
      (select count(*) from running r where r.account_id = due.account_id)
        + row_number() over (partition by due.account_id order by due.next_attempt_at, due.id) as place
    from due left join slow on slow.account_id = due.account_id
  ), picked as (
    select id, place = 1 and not is_slow as is_first,
      row_number() over (order by place = 1 and not is_slow desc, place, nth, id) as pick
    from placed where place <= share
  )`;

/** Columns of `alert_events e` that make a `TakenAlert`. */
const takenColumns = sql`e.id, e.lease_token::text as token, e.account_id as "accountId",
  e.subscription_id as "subscriptionId", e.purpose, e.kind, e.destination, e.lane::text, e.key_id as "keyId",
  e.key_name as "keyName", e.key_prefix as "keyPrefix", e.threshold_pct::int as "thresholdPct",
  e.billing_month as "billingMonth", e.guard_action as "guardAction",
  e.guard_model_public_name as "guardModel", e.spend::text, e.monthly_limit::text as "monthlyLimit", e.balance::text,
  (extract(epoch from e.fired_at) * 1000)::float8 as "firedAtMs",
  (extract(epoch from e.pending_since) * 1000)::float8 as "pendingSinceMs", e.attempts::int, e.redeliveries,
  (select s.signing_secret_sealed from alert_subscriptions s where s.id = e.subscription_id) as "signingSecretSealed"`;

/** One index step. Planning the statement below takes 2 ms of the database, once a second and kind. */
async function hasPending(em: EntityManager, kind: AlertKind): Promise<boolean> {
  const { rows } = await sql`
    select from alert_events where delivery_status = 'pending' and kind = ${kind} limit 1`.execute(
    em.getKysely(),
  );
  return rows.length > 0;
}

/**
 * Takes due alerts of one kind for `leaseMs`: new ones, and those whose lease has ended. Two takers never get the
 * same one. Accounts take turns: those with the fewest deliveries in progress first, then in round-robin order. A
 * backlog of one account is never read to find another's alert.
 */
export async function takeDueAlerts(em: EntityManager, room: Room, leaseMs: number): Promise<DeliveryBatch> {
  const free = room.total - room.running.length;
  if (free <= 0 || !(await hasPending(em, room.kind))) return { alerts: [], after: room.after };
  const lease = sql`now() + ${leaseMs} * interval '1 millisecond'`;
  // Arrays of ids: the planner would scan the whole table for a join of unknown size.
  const { rows } = await sql<TakenAlert & { pick: number }>`
    with recursive ${held(room)}, ${ring(room)}, ${picked(room)}, taken as (
      select e.id from alert_events e
      where e.id = any(array(select id from picked
          where pick <= ${free} and (is_first or pick <= ${free - room.reserved})))
        and e.delivery_status = 'pending' and e.next_attempt_at <= now()
      for update skip locked
    )
    update alert_events e set lease_token = e.lease_token + 1, leased_until = ${lease}, next_attempt_at = ${lease}
    where e.id = any(array(select id from taken))
    returning (select pick::int from picked where picked.id = e.id) as pick, ${takenColumns}`.execute(
    em.getKysely(),
  );
  const alerts = rows
    .toSorted((one, other) => one.pick - other.pick)
    .map(({ pick: _pick, ...alert }) => alert);
  return { alerts, after: alerts.at(-1)?.accountId ?? room.after };
}
