import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { UNTRACKED } from '../../db/untracked.js';
import { GpuHeartbeat } from '../../entities/nodes/gpu-heartbeat.js';
import { GpuNode } from '../../entities/nodes/gpu-node.js';
import type { PageInput } from '../../lib/page-input.js';
import { REPORT_SECONDS } from '../../router/deployment-reports.js';

/** Numbers of nodes. */
export interface NodeCounts {
  healthy: number;
  unhealthy: number;
  /** Unhealthy nodes that the routing keeps. */
  kept: number;
}

const NEWEST_FIRST = { createdAt: 'desc', id: 'desc' } as const;

/** Reports of the routing processes about a node. */
export interface NodeReportSum {
  /** Calls in progress there. */
  calls: number;
  /** Number of deployments there in the routing file; null if only proxies of an older build report. */
  deployments: number | null;
}

const sumUpReports = sql<NodeReportSum & { node: string }>`
  select node, sum((report->>'in_flight')::integer)::integer as calls,
    max((report->>'deployments')::integer) as deployments
  from proxy_reports, jsonb_each(nodes) as reported (node, report)
  where reported_at > now() - ${REPORT_SECONDS} * interval '1 second'
  group by node`;

export function listNodes(em: EntityManager, { limit, offset }: PageInput): Promise<GpuNode[]> {
  return em.find(GpuNode, {}, { ...UNTRACKED, orderBy: NEWEST_FIRST, limit, offset });
}

/** All nodes, or those of the ids that exist, newest first. */
export function findNodes(em: EntityManager, ids?: readonly string[]): Promise<GpuNode[]> {
  const which = ids ? { id: { $in: [...ids] } } : {};
  return em.find(GpuNode, which, { ...UNTRACKED, orderBy: NEWEST_FIRST });
}

/** For each node a text that changes whenever any displayed field changes. */
export async function nodeMarks(em: EntityManager): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; mark: string }>`
    with reported as (${sumUpReports})
    select n.id, concat(n.xmin, ' ', s.calls, ' ', s.deployments) as mark
    from gpu_nodes n left join reported s on s.node = n.id::text`.execute(em.getKysely());
  return new Map(rows.map(({ id, mark }) => [id, mark]));
}

/** The id must be a UUID, as everywhere in this file. */
export function findNode(em: EntityManager, id: string): Promise<GpuNode | null> {
  return em.findOne(GpuNode, { id }, UNTRACKED);
}

/** A node, locked until the transaction ends. Changes to the entity are written at the end. */
export function lockNode(em: EntityManager, id: string): Promise<GpuNode | null> {
  return em.findOne(GpuNode, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/** All nodes that have sent a heartbeat, locked. */
export function lockKnownNodes(em: EntityManager): Promise<GpuNode[]> {
  return em.find(
    GpuNode,
    { lastHeartbeatAt: { $ne: null } },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true, orderBy: { id: 'asc' } },
  );
}

/** The number of nodes in each state that have sent a heartbeat; `unhealthy` excludes `kept`. */
export async function countNodes(em: EntityManager): Promise<NodeCounts> {
  const { rows } = await sql<NodeCounts>`
    select count(*) filter (where health_status = 'healthy')::integer as healthy,
      count(*) filter (where health_status <> 'healthy' and not kept_in_routing)::integer as unhealthy,
      count(*) filter (where kept_in_routing)::integer as kept
    from gpu_nodes where last_heartbeat_at is not null`.execute(em.getKysely());
  return rows[0]!;
}

/** Reports by node. */
export async function nodeReports(em: EntityManager): Promise<Map<string, NodeReportSum>> {
  const { rows } = await sumUpReports.execute(em.getKysely());
  return new Map(rows.map(({ node, ...report }) => [node, report]));
}

export function listHeartbeats(
  em: EntityManager,
  nodeId: string,
  { limit, offset }: PageInput,
): Promise<GpuHeartbeat[]> {
  return em.find(GpuHeartbeat, { nodeId }, { ...UNTRACKED, orderBy: { receivedAt: 'desc' }, limit, offset });
}

export async function deleteHeartbeatsBefore(em: EntityManager, time: Date): Promise<number> {
  return em.nativeDelete(GpuHeartbeat, { receivedAt: { $lt: time } });
}

/** Records a sweep. @returns the time of the previous one; undefined for the first. */
export async function noteSweep(em: EntityManager, now: Date): Promise<Date | undefined> {
  const before = await lastSweep(em);
  await sql`insert into gpu_sweeps (swept_at) values (${now})
    on conflict (only_row) do update set swept_at = excluded.swept_at`.execute(em.getKysely());
  return before;
}

/** Time of the last sweep; undefined before the first. */
export async function lastSweep(em: EntityManager): Promise<Date | undefined> {
  const { rows } = await sql<{ at: Date }>`select swept_at as at from gpu_sweeps`.execute(em.getKysely());
  return rows[0] && new Date(rows[0].at);
}
