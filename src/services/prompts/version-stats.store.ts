import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';

/** What was counted of the calls that named a version. */
export interface VersionCounts {
  version_id: string;
  requests: number;
  errors: number;
  p50: number | null;
  p95: number | null;
  input_tokens: number;
  output_tokens: number;
  /** Dollars. */
  cost: string;
}

/** Calls of an account from a time on that named one of the versions. A version without calls isn't there. */
export async function countVersions(
  em: EntityManager,
  { accountId, ids, from }: { accountId: string; ids: readonly string[]; from: Date },
): Promise<VersionCounts[]> {
  const { rows } = await sql<VersionCounts>`
    select prompt_version_id as version_id, count(*)::float8 as requests,
      count(*) filter (where status = 'error')::float8 as errors,
      percentile_disc(0.5) within group (order by latency_ms) as p50,
      percentile_disc(0.95) within group (order by latency_ms) as p95,
      sum(input_tokens)::float8 as input_tokens, sum(output_tokens)::float8 as output_tokens, sum(cost)::text as cost
    from usage_events
    where account_id = ${accountId} and prompt_version_id = any(${ids}::uuid[])
      and created_at >= ${from.toISOString()}
    group by 1`.execute(em.getKysely());
  return rows;
}
