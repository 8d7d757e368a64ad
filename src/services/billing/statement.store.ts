import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { UNTRACKED } from '../../db/untracked.js';
import { ApiKey } from '../../entities/keys/api-key.js';
import { DeletedApiKey } from '../../entities/keys/deleted-api-key.js';
import { countedParts, type Scope } from '../analytics/analytics.store.js';
import type { ChargedPart } from './statement.rules.js';

/**
 * Charges of a period by UTC day, model and key. Read from the roll-ups, which the audit compares with the ledger: a
 * month of a large account has millions of entries.
 */
export async function chargedParts(em: EntityManager, scope: Omit<Scope, 'keyIds'>): Promise<ChargedPart[]> {
  const { rows } = await sql<ChargedPart>`
    with ${countedParts({ ...scope, perKey: true })}, inside as (
      select (hour at time zone 'UTC')::date::text as day, model, key_id::text as key, requests - errors as calls,
        input_tokens, output_tokens, cost
      from parts)
    select case when grouping(day) = 0 then 'day' when grouping(model) = 0 then 'model' when grouping(key) = 0 then 'key'
        else 'all' end as of,
      coalesce(day, model, key) as name, coalesce(sum(calls), 0)::float8 as calls,
      coalesce(sum(input_tokens), 0)::float8 as input_tokens, coalesce(sum(output_tokens), 0)::float8 as output_tokens,
      coalesce(sum(cost), 0)::text as charges
    from inside group by grouping sets ((day), (model), (key), ())`.execute(em.getKysely());
  return rows;
}

/** Credits and corrections from `from` on by UTC day, oldest first, in dollars. */
export async function creditsByDay(
  em: EntityManager,
  accountId: string,
  from: Date,
): Promise<{ day: string; credits: string }[]> {
  const { rows } = await sql<{ day: string; credits: string }>`
    select (created_at at time zone 'UTC')::date::text as day, sum(amount)::text as credits
    from ledger_entries
    where account_id = ${accountId} and kind <> 'usage' and created_at >= ${from.toISOString()}
    group by 1 order by 1`.execute(em.getKysely());
  return rows;
}

/** Names of an account's keys by id, including deleted keys. */
export async function keyNames(
  em: EntityManager,
  accountId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const where = { accountId, id: { $in: [...ids] } };
  const deleted = await em.find(DeletedApiKey, where, { ...UNTRACKED, fields: ['name'] });
  const present = await em.find(ApiKey, where, { ...UNTRACKED, fields: ['name'] });
  return new Map([...deleted, ...present].map(({ id, name }) => [id, name]));
}
