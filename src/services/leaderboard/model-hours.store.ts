import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import { MODEL_HOURS_CHANNEL } from '../../db/invalidation.js';
import { type BucketCount, latencyBounds } from '../../lib/latency-sketch.js';
import { inHour } from '../analytics/dirty-hours.store.js';
import { pointsOf } from '../analytics/sketch-points.js';
import { recomputeBandHour } from './band-hours.store.js';
import { CALLERS_FAULT } from './callers-fault.rules.js';
import { type CountedHours, isCounted } from './quiet-hours.store.js';

const bounds = sql.lit(`{${latencyBounds}}`);

/** Sketch of a column over a model's successful calls, as two arrays. */
const sketchOf = (name: string, column: string): RawBuilder<unknown> => sql`
  ${sql.ref(name)} as (
    select model, array_agg(bucket order by bucket) as buckets, array_agg(n order by bucket) as counts from (
      select model, width_bucket(${sql.ref(column)}, ${bounds}::integer[])::smallint as bucket, count(*) as n
      from served where success and ${sql.ref(column)} is not null group by 1, 2) b
    group by model)`;

const part = (name: string, column: 'buckets' | 'counts', type: string): RawBuilder<unknown> =>
  sql`coalesce(${sql.ref(`${name}.${column}`)}, '{}')::${sql.raw(type)}`;

const isCallersFault = sql.raw(CALLERS_FAULT);

/**
 * Recomputes the figures of an hour from all of its events. A call is successful if it gave an answer: for a chat at
 * least one token. A stream that its client left counts as neither success nor failure. A call that another model
 * served is an error of the requested model.
 */
export async function recomputeModelHour(em: EntityManager, hour: Date): Promise<void> {
  const db = em.getKysely();
  const at = hour.toISOString();
  await sql`delete from model_hours where hour = ${at}`.execute(db);
  await sql`
    with served as materialized (
      select served_model as model, coalesce(moved_to, requested_model) as sent_model, status = 'error' as error, error_code,
        http_status, client_aborted,
        status = 'success' and not client_aborted and (endpoint = 'embeddings' or output_tokens > 0) as success,
        latency_ms, ttft_ms, input_tokens, output_tokens, cost
      from usage_events
      where ${inHour(hour)}
    ), totals as (
      select model, count(*) filter (where success) as successes, count(*) filter (where error) as errors,
        count(*) filter (where error and error_code = 'upstream_unavailable') as rate_limited,
        count(*) filter (where error and ${isCallersFault}) as caller_errors, sum(input_tokens) as input_tokens,
        sum(output_tokens) as output_tokens, sum(cost) as cost,
        coalesce(sum(output_tokens) filter (where success), 0) as success_tokens,
        coalesce(sum(latency_ms) filter (where success), 0) as success_ms
      from served group by model
    ), fell_back as (
      select sent_model as model, count(*) as errors from served
      where sent_model <> model and not error group by 1
    ), ${sketchOf('latency', 'latency_ms')}, ${sketchOf('ttft', 'ttft_ms')},
      ${sketchOf('input', 'input_tokens')}, ${sketchOf('output', 'output_tokens')}
    insert into model_hours
    select ${at}, model, coalesce(successes, 0), coalesce(totals.errors, 0) + coalesce(fell_back.errors, 0),
      coalesce(rate_limited, 0), coalesce(input_tokens, 0), coalesce(output_tokens, 0), coalesce(cost, 0),
      coalesce(success_tokens, 0), coalesce(success_ms, 0),
      ${part('latency', 'buckets', 'smallint[]')}, ${part('latency', 'counts', 'bigint[]')},
      ${part('ttft', 'buckets', 'smallint[]')}, ${part('ttft', 'counts', 'bigint[]')},
      ${part('input', 'buckets', 'smallint[]')}, ${part('input', 'counts', 'bigint[]')},
      ${part('output', 'buckets', 'smallint[]')}, ${part('output', 'counts', 'bigint[]')},
      coalesce(caller_errors, 0)
    from totals full join fell_back using (model) left join latency using (model) left join ttft using (model)
      left join input using (model) left join output using (model)`.execute(db);
  await recomputeAccounts(em, hour);
  await recomputeBandHour(em, hour);
}

async function recomputeAccounts(em: EntityManager, hour: Date): Promise<void> {
  const at = hour.toISOString();
  const db = em.getKysely();
  await sql`delete from model_account_hours where hour = ${at}`.execute(db);
  await sql`
    insert into model_account_hours
    select ${at}, model, account_id, count(*) from usage_events
      cross join lateral (select served_model as model union select coalesce(moved_to, requested_model)) names
    where ${inHour(hour)}
    group by 2, 3`.execute(db);
}

/** Counts of one model in a window. */
export interface ModelTotals {
  model: string;
  successes: number;
  errors: number;
  rate_limited: number;
  input_tokens: number;
  output_tokens: number;
  /** Dollars. */
  cost: string;
  success_tokens: number;
  success_ms: number;
}

const within = (table: string, { from, withheld }: CountedHours): RawBuilder<unknown> =>
  sql`hour >= ${from.toISOString()} and ${isCounted(table, withheld)}`;

/** Totals of each model. */
export async function modelTotals(em: EntityManager, counted: CountedHours): Promise<ModelTotals[]> {
  const { rows } = await sql<ModelTotals>`
    select model, sum(successes)::float8 as successes, sum(errors)::float8 as errors,
      sum(rate_limited)::float8 as rate_limited, sum(input_tokens)::float8 as input_tokens,
      sum(output_tokens)::float8 as output_tokens, sum(cost)::text as cost,
      sum(success_tokens)::float8 as success_tokens, sum(success_ms)::float8 as success_ms
    from model_hours where ${within('model_hours', counted)} group by model`.execute(em.getKysely());
  return rows;
}

/** The values that a sketch covers. */
export const SKETCHES = ['latency', 'ttft', 'input', 'output'] as const;
export type SketchName = (typeof SKETCHES)[number];

/** Sketches of each model, merged over all hours. */
export async function modelSketches(
  em: EntityManager,
  counted: CountedHours,
): Promise<({ model: string; sketch: SketchName } & BucketCount)[]> {
  const parts = SKETCHES.map(
    (name) => sql`
      select model, ${sql.lit(name)} as sketch, ${pointsOf(name)}
      from model_hours where ${within('model_hours', counted)}`,
  );
  const { rows } = await sql<{ model: string; sketch: SketchName } & BucketCount>`
    select model, sketch, bucket, sum(n) as count from (${sql.join(parts, sql` union all `)}) parts
    group by 1, 2, 3`.execute(em.getKysely());
  return rows;
}

/** The accounts behind a model's calls. */
export interface ModelAccounts {
  model: string;
  accounts: number;
  /** The busiest account's share of the calls, 0 to 1. */
  largest_share: number;
}

/** The number of accounts that each model served. */
export async function modelAccounts(em: EntityManager, counted: CountedHours): Promise<ModelAccounts[]> {
  const { rows } = await sql<ModelAccounts>`
    select model, count(*)::float8 as accounts, (max(n) / sum(n))::float8 as largest_share from (
      select model, account_id, sum(requests) as n from model_account_hours
      where ${within('model_account_hours', counted)} group by 1, 2) by_account
    group by model`.execute(em.getKysely());
  return rows;
}

/** Counts of one model in one hour. */
export interface HourOfModel {
  hour_ms: number;
  successes: number;
  errors: number;
  input_tokens: number;
  output_tokens: number;
  latency_buckets: number[];
  latency_counts: number[];
}

/** Hours of one model from `from` on in which at least `leastAccounts` accounts called it. */
export async function hoursOfModel(
  em: EntityManager,
  { model, from, leastAccounts }: { model: string; from: Date; leastAccounts: number },
): Promise<HourOfModel[]> {
  const { rows } = await sql<HourOfModel>`
    select (extract(epoch from hour) * 1000)::float8 as hour_ms, successes::float8 as successes,
      errors::float8 as errors, input_tokens::float8 as input_tokens, output_tokens::float8 as output_tokens,
      latency_buckets::integer[] as latency_buckets, latency_counts::float8[] as latency_counts
    from model_hours h where model = ${model} and hour >= ${from.toISOString()}
      and (select count(*) from model_account_hours a where a.hour = h.hour and a.model = h.model) >= ${leastAccounts}
    `.execute(em.getKysely());
  return rows;
}

/** Signals at the commit that figures have changed. */
export async function notifyModelHours(em: EntityManager): Promise<void> {
  await sql`select pg_notify(${MODEL_HOURS_CHANNEL}, '')`.execute(em.getKysely());
}
