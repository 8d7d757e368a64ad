import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { Endpoint } from '../../metering/usage-record.js';
import type { Scope } from './analytics.store.js';
import { countByDayAndModel } from './analytics.store.js';

/** Charged calls of one endpoint. Tokens and dollars as texts, since they may be large. */
export interface ChargedCalls {
  endpoint: Endpoint;
  requests: number;
  input_tokens: string;
  output_tokens: string;
  /** Dollars. */
  cost: string;
}

/** Charged calls that named a version of a prompt, of a key where one is meant, from their events. */
export async function chargedOfVersion(
  em: EntityManager,
  { accountId, keyIds, from, until }: Scope,
  versionId: string,
): Promise<ChargedCalls[]> {
  const { rows } = await sql<ChargedCalls>`
    select endpoint, count(*)::float8 as requests, sum(input_tokens)::text as input_tokens,
      sum(output_tokens)::text as output_tokens, sum(cost)::text as cost
    from usage_events
    where account_id = ${accountId} and prompt_version_id = ${versionId} and status = 'success'
      and created_at >= ${from.toISOString()} and created_at < ${until.toISOString()}
      ${keyIds ? sql`and key_id = any(${keyIds}::uuid[])` : sql``}
    group by 1`.execute(em.getKysely());
  return rows;
}

/** Charged calls per day and model, from the roll-ups: what failed has neither tokens nor cost. */
export async function chargedOfScope(
  em: EntityManager,
  scope: Scope,
  endpointOf: (model: string) => Endpoint | undefined,
): Promise<ChargedCalls[]> {
  const rows = await countByDayAndModel(em, scope);
  return rows.flatMap(({ model, requests, errors, input_tokens, output_tokens, cost }) => {
    const endpoint = endpointOf(model);
    if (endpoint === undefined || requests === errors) return [];
    return [
      {
        endpoint,
        requests: requests - errors,
        input_tokens: String(input_tokens),
        output_tokens: String(output_tokens),
        cost,
      },
    ];
  });
}
