import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { type BucketCount, latencyBounds } from '../../lib/latency-sketch.js';
import { inHour } from '../analytics/dirty-hours.store.js';
import { pointsOf } from '../analytics/sketch-points.js';
import { BAND_BOUNDS } from './bands.rules.js';
import { type CountedHours, isCounted } from './quiet-hours.store.js';

/**
 * Recomputes the latencies of an hour by answer length from all of its events: of each account, and of all together.
 * `recomputeModelHour` defines which calls are successful.
 */
export async function recomputeBandHour(em: EntityManager, hour: Date): Promise<void> {
  const db = em.getKysely();
  const at = hour.toISOString();
  await sql`delete from account_band_hours where hour = ${at}`.execute(db);
  await sql`delete from model_band_hours where hour = ${at}`.execute(db);
  await sql`
    insert into account_band_hours
    select ${at}, account_id, model, band, sum(n), sum(input_tokens), sum(output_tokens),
      array_agg(bucket order by bucket), array_agg(n order by bucket)
    from (
      select account_id, served_model as model,
        (width_bucket(output_tokens, ${sql.lit(`{${BAND_BOUNDS}}`)}::integer[]) + 1)::smallint as band,
        width_bucket(latency_ms, ${sql.lit(`{${latencyBounds}}`)}::integer[])::smallint as bucket, count(*) as n,
        sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens
      from usage_events
      where ${inHour(hour)}
        and status = 'success' and not client_aborted and (endpoint = 'embeddings' or output_tokens > 0)
      group by 1, 2, 3, 4) buckets
    group by account_id, model, band`.execute(db);
  await sql`
    insert into model_band_hours
    select ${at}, model, band, array_agg(bucket order by bucket), array_agg(n order by bucket)
    from (
      select model, band, bucket, sum(n)::bigint as n
      from account_band_hours, unnest(latency_buckets, latency_counts) as points (bucket, n)
      where hour = ${at} group by 1, 2, 3) buckets
    group by model, band`.execute(db);
}

/** An account's calls of one model with answers of one length. */
export interface OwnBand {
  model: string;
  band: number;
  successes: number;
  input_tokens: number;
  output_tokens: number;
}

/** One account's calls in the hours from `from` on. */
export async function ownBands(
  em: EntityManager,
  accountId: string,
  from: Date,
): Promise<{ bands: OwnBand[]; points: BandPoint[] }> {
  const db = em.getKysely();
  const ofAccount = sql`account_id = ${accountId} and hour >= ${from.toISOString()}`;
  const { rows: bands } = await sql<OwnBand>`
    select model, band, sum(successes)::float8 as successes, sum(input_tokens)::float8 as input_tokens,
      sum(output_tokens)::float8 as output_tokens
    from account_band_hours where ${ofAccount} group by 1, 2`.execute(db);
  const { rows: points } = await sql<BandPoint>`
    select model, band, bucket, sum(n) as count
    from (select model, band, ${pointsOf()} from account_band_hours where ${ofAccount}) points group by 1, 2, 3`.execute(
    db,
  );
  return { bands, points };
}

/** The number of calls of a model and answer length in a latency bucket. */
export type BandPoint = { model: string; band: number } & BucketCount;

/** Latencies of all accounts, where at least `leastAccounts` accounts had such calls. */
export async function everyonesBands(
  em: EntityManager,
  { from, withheld }: CountedHours,
  leastAccounts: number,
): Promise<BandPoint[]> {
  const { rows } = await sql<BandPoint>`
    with shown as (
      select model, band from (
        select distinct model, band, account_id from account_band_hours
        where hour >= ${from.toISOString()} and ${isCounted('account_band_hours', withheld)}) called
      group by 1, 2 having count(*) >= ${leastAccounts}
    )
    select model, band, bucket, sum(n) as count
    from (
      select model, band, ${pointsOf()} from model_band_hours
      where hour >= ${from.toISOString()} and ${isCounted('model_band_hours', withheld)}) points
      join shown using (model, band)
    group by 1, 2, 3`.execute(em.getKysely());
  return rows;
}
