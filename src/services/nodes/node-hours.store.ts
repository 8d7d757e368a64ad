import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import type { BucketCount } from '../../lib/latency-sketch.js';
import {
  dirtyTable,
  inDirtyHour,
  inHour,
  isCurrent,
  readDirtyHours,
} from '../analytics/dirty-hours.store.js';
import { latencyBucket } from '../analytics/rollups.store.js';
import { CALL_BOUNDS } from './economics.rules.js';

/** Condition for one node, or for all. */
const ofNode = (nodeId: string | undefined): RawBuilder<unknown> =>
  nodeId === undefined ? sql`node_id is not null` : sql`node_id = ${nodeId}::uuid`;

/**
 * What nodes served in an hour, from its events, in the columns of `node_hours` after the hour.
 */
const servedIn = (within: RawBuilder<unknown>, nodeId?: string): RawBuilder<unknown> => sql`
  select node_id, deployment, model, band, sum(requests)::bigint as requests, sum(errors)::bigint as errors,
    sum(busy_ms)::bigint as busy_ms, sum(cost) as cost,
    coalesce(array_agg(bucket order by bucket) filter (where requests > errors), '{}')::smallint[] as latency_buckets,
    coalesce(array_agg(requests - errors order by bucket) filter (where requests > errors), '{}')::bigint[] as latency_counts,
    sum(uncounted)::bigint as uncounted
  from (
    select node_id, deployment, served_model as model,
      coalesce(width_bucket(node_calls, ${sql.lit(`{${CALL_BOUNDS}}`)}::integer[]), 0)::smallint as band,
      ${latencyBucket} as bucket, count(*) as requests, count(*) filter (where status = 'error') as errors,
      sum(latency_ms) as busy_ms, sum(cost) as cost,
      count(*) filter (where anomalous and input_tokens = 0 and output_tokens = 0) as uncounted
    from usage_events
    where ${within} and ${ofNode(nodeId)}
    group by 1, 2, 3, 4, 5) buckets
  group by node_id, deployment, model, band`;

/** Recomputes the figures of nodes in an hour from all of its events. */
export async function recomputeNodeHour(em: EntityManager, hour: Date): Promise<void> {
  const db = em.getKysely();
  const at = hour.toISOString();
  await sql`delete from node_hours where hour = ${at}`.execute(db);
  await sql`insert into node_hours select ${at}, served.* from (${servedIn(inHour(hour))}) served`.execute(
    db,
  );
}

/**
 * Hours from `from` on as `parts`, in the columns of `node_hours` after the hour. Hours not rolled up yet are read
 * from the events.
 */
async function partsFrom(
  em: EntityManager,
  from: Date,
  nodeId: string | undefined,
): Promise<RawBuilder<unknown>> {
  const dirty = await readDirtyHours(em, { from });
  return sql`
  parts as (
    select node_id, deployment, model, band, requests, errors, busy_ms, cost, latency_buckets, latency_counts,
      uncounted
    from node_hours where hour >= ${from.toISOString()} and ${ofNode(nodeId)} and ${isCurrent(dirty)}
    ${
      dirty.length === 0
        ? sql``
        : sql`
    union all
    select served.* from ${dirtyTable(dirty)} cross join lateral (${servedIn(inDirtyHour(dirty), nodeId)}) served`
    })`;
}

/** What a deployment served on a node. */
export interface ServedPart {
  node_id: string;
  deployment: string;
  model: string;
  requests: number;
  errors: number;
  busy_ms: number;
  /** Dollars. */
  cost: string;
  /** Answers for which the node reported zero tokens. */
  uncounted: number;
}

/** What each deployment served on each node, or on one node, in the hours from `from` on. */
export async function servedParts(em: EntityManager, from: Date, nodeId?: string): Promise<ServedPart[]> {
  const { rows } = await sql<ServedPart>`
    with ${await partsFrom(em, from, nodeId)}
    select node_id, deployment, model, sum(requests)::float8 as requests, sum(errors)::float8 as errors,
      sum(busy_ms)::float8 as busy_ms, sum(cost)::text as cost, sum(uncounted)::float8 as uncounted
    from parts group by 1, 2, 3 order by 2, 3`.execute(em.getKysely());
  return rows;
}

/** The number of calls of a model on a node in a latency bucket, while so many calls were in progress there. */
export type ServedLatency = { node_id: string; model: string; band: number } & BucketCount;

/** Latencies of successful calls on each node, or on one node, in the hours from `from` on. */
export async function servedLatencies(
  em: EntityManager,
  from: Date,
  nodeId?: string,
): Promise<ServedLatency[]> {
  const { rows } = await sql<ServedLatency>`
    with ${await partsFrom(em, from, nodeId)}
    select node_id, model, band, bucket, sum(n)::float8 as count
    from parts cross join lateral unnest(latency_buckets, latency_counts) as points (bucket, n)
    group by 1, 2, 3, 4`.execute(em.getKysely());
  return rows;
}
