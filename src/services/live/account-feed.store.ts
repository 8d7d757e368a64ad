import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';

/**
 * State of an account at one instant. State that can't be compared directly is represented by text that changes with
 * it.
 */
export interface AccountInstant {
  /** Dollars. */
  balance: string;
  plan: string;
  keys: string;
  refused_calls: string;
}

/** The current state of an account; undefined if it doesn't exist. */
export async function accountInstant(
  em: EntityManager,
  accountId: string,
): Promise<AccountInstant | undefined> {
  const { rows } = await sql<AccountInstant>`
    select a.balance::text, a.plan_id as plan,
      coalesce((select md5(string_agg(row(k.id, k.status, k.monthly_limit_usd, k.daily_limit_usd,
          k.virtual_key_sealed is null, k.name, g.at_pct, g.action, g.model_public_name, g.acted_month, g.undone)::text,
          ',' order by k.id))
        from api_keys k left join key_guards g on g.key_id = k.id where k.account_id = a.id), '') as keys,
      coalesce((select concat(r.hour, ' ', sum(r.calls)) from refused_call_hours r
        where r.account_id = a.id
          and r.hour = (select max(hour) from refused_call_hours where account_id = a.id)
        group by r.hour), '') as refused_calls
    from accounts a where a.id = ${accountId}`.execute(em.getKysely());
  return rows[0];
}
