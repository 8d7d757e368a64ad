import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { DeploymentState } from './routing.js';

/** How a deployment fares. */
export interface DeploymentReport {
  /** Milliseconds until it takes calls again; 0: it does. */
  parkedForMs: number;
  /** Consecutive failures. */
  fails: number;
  /** Why the last of these failed: `ECONNREFUSED`, `timeout`, `status_500` and their like. */
  lastFailure?: string | null | undefined;
  takesCalls: 'yes' | 'if_no_other_can' | 'no';
  /** Calls under way at its host and port. */
  calls: number;
}

/** A process without a report for this long counts as gone. */
export const REPORT_SECONDS = 10;

const TAKES_CALLS = { open: 'yes', avoided: 'if_no_other_can', closed: 'no' } as const;

export const reportOf = ({
  parkedForMs,
  fails,
  lastFailure,
  standing,
  inFlight,
}: DeploymentState): DeploymentReport => ({
  parkedForMs,
  fails,
  lastFailure,
  takesCalls: TAKES_CALLS[standing],
  calls: inFlight,
});

/**
 * Reports of all running processes, by `headerName`. Processes judge health separately, so this returns the worst state that any
 * reports, and the sum of their calls.
 */
export async function readReports(em: EntityManager): Promise<Map<string, DeploymentReport>> {
  const { rows } = await sql<{
    id: string;
    parked: number;
    fails: number;
    last: string | null;
    rank: number;
    calls: number;
  }>`
    select id, greatest(0, max((report->>'parkedForMs')::float8 - extract(epoch from now() - reported_at) * 1000))::float8 as parked,
      max((report->>'fails')::integer) as fails,
      max(report->>'lastFailure') as last,
      max(array_position(array['yes', 'if_no_other_can', 'no'], report->>'takesCalls')) as rank,
      sum((report->>'calls')::integer)::integer as calls
    from proxy_reports, jsonb_each(deployments) as said (id, report)
    where reported_at > now() - ${REPORT_SECONDS} * interval '1 second'
    group by id`.execute(em.getKysely());
  const ranks = Object.values(TAKES_CALLS);
  return new Map(
    rows.map(({ id, parked, fails, last, rank, calls }) => [
      id,
      { parkedForMs: parked, fails, lastFailure: last, takesCalls: ranks[rank - 1]!, calls },
    ]),
  );
}
