import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import type { BucketCount } from '../../lib/latency-sketch.js';
import { inHour, isCurrent, ofDirty, withoutSlices } from '../analytics/dirty-hours.store.js';
import { latencyBucket } from '../analytics/rollups.store.js';
import { pointsOf } from '../analytics/sketch-points.js';
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

/** Which hours of which nodes are summed. */
interface ServedScope {
  /** First hour. */
  from: Date;
  /** Hours whose roll-ups aren't current. */
  dirty: readonly Date[];
  /** Without it all nodes. */
  nodeId?: string | undefined;
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

/** The number of calls of a model on a node in a latency bucket, while so many calls were in progress there. */
export type ServedLatency = { node_id: string; model: string; band: number } & BucketCount;

/** What each deployment served on each node, and latencies of successful calls. */
export interface ServedOnNodes {
  parts: ServedPart[];
  latencies: ServedLatency[];
}

/** From roll-ups. */
export const servedInClosedHours = (
  em: EntityManager,
  { from, dirty, nodeId }: ServedScope,
): Promise<ServedOnNodes> =>
  sumServed(
    em,
    sql`select * from node_hours where hour >= ${from.toISOString()} and ${ofNode(nodeId)} and ${isCurrent(withoutSlices(dirty))}`,
  );

/** In the other hours, from the events. */
export const servedInDirtyHours = async (
  em: EntityManager,
  { dirty, nodeId }: ServedScope,
): Promise<ServedOnNodes> =>
  dirty.length === 0
    ? { parts: [], latencies: [] }
    : sumServed(
        em,
        ofDirty(withoutSlices(dirty), (inPeriod) => servedIn(inPeriod, nodeId)),
      );

/** Sums rows with the columns of `node_hours`. */
async function sumServed(em: EntityManager, parts: RawBuilder<unknown>): Promise<ServedOnNodes> {
  const db = em.getKysely();
  const { rows } = await sql<ServedPart>`
    select node_id, deployment, model, sum(requests)::float8 as requests, sum(errors)::float8 as errors,
      sum(busy_ms)::float8 as busy_ms, sum(cost)::text as cost, sum(uncounted)::float8 as uncounted
    from (${parts}) parts group by 1, 2, 3`.execute(db);
  const { rows: latencies } = await sql<ServedLatency>`
    select node_id, model, band, bucket, sum(n) as count
    from (select node_id, model, band, ${pointsOf()} from (${parts}) parts) points
    group by 1, 2, 3, 4`.execute(db);
  return { parts: rows, latencies };
}
