import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { DeploymentState } from './routing.js';

/** State of a deployment as one process reports it. */
export interface DeploymentReport {
  /** Milliseconds until its cooldown ends; 0 if it isn't cooling down. */
  parkedForMs: number;
  /** Consecutive failures. */
  fails: number;
  /** Why the last of these failed, such as `ECONNREFUSED`, `timeout` or `status_500`. */
  lastFailure?: string | null | undefined;
  takesCalls: 'yes' | 'if_no_other_can' | 'no';
  /** Calls in flight at its host and port. */
  calls: number;
}

/** A process without a report for this long counts as gone. */
export const REPORT_SECONDS = 10;

const TAKES_CALLS = { open: 'yes', avoided: 'if_no_other_can', closed: 'no' } as const;

export const reportOf = ({
  cooldownLeftMs,
  fails,
  lastFailure,
  availability,
  inFlight,
}: DeploymentState): DeploymentReport => ({
  parkedForMs: cooldownLeftMs,
  fails,
  lastFailure,
  takesCalls: TAKES_CALLS[availability],
  calls: inFlight,
});

/**
 * Reports of all running processes, by `headerName`. Each process judges health separately; this returns the worst reported state
 * and the sum of calls.
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
    from proxy_reports, jsonb_each(deployments) as reported (id, report)
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
