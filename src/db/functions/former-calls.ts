import type { SqlFunction } from './sql-function.js';

/**
 * Returns the ids of calls that the tables before `Migration20261224000000` have, separated by spaces; null if there are none.
 * Only calls that began before `p_until`, a day after that migration, can be there.
 */
export const formerCalls: SqlFunction = {
  name: 'former_calls',
  sql: `
create or replace function former_calls(p_id uuid[], p_at_ms bigint[], p_account uuid[], p_until timestamptz) returns text
language plpgsql stable set timezone = 'UTC' set enable_seqscan = off as $$
declare
  until_id constant uuid := (lpad(to_hex((extract(epoch from p_until) * 1000)::bigint), 12, '0') || repeat('f', 20))::uuid;
begin
  if to_regclass('former_usage_events') is null or not exists (select from unnest(p_id) as id where id <= until_id) then
    return null;
  end if;
  return (select string_agg(t.id::text, ' ') from unnest(p_id, p_at_ms, p_account) as t(id, at_ms, account_id)
    where t.id <= until_id and coalesce(
      (select true from ledger_entries l where l.id = t.id and l.event_id is not null),
      (select true from former_usage_events u where u.account_id = t.account_id and u.id = t.id
        and u.created_at >= timestamptz 'epoch' + t.at_ms * interval '1 millisecond' - interval '1 minute'
        and u.created_at < timestamptz 'epoch' + t.at_ms * interval '1 millisecond' + interval '1 day' limit 1), false));
end $$`,
};
