import type { SqlFunction } from './sql-function.js';

/** Returns a key's spend in a month (YYYY-MM, UTC) in dollars: the sum of its days, at most 31 rows. */
export const keyMonthSpend: SqlFunction = {
  name: 'key_month_spend',
  sql: `
create or replace function key_month_spend(uuid, text) returns numeric language sql stable as $$
  select coalesce(sum(spend), 0) from key_spend_days
  where key_id = $1 and day >= to_date($2, 'YYYY-MM') and day < to_date($2, 'YYYY-MM') + interval '1 month'
$$`,
};
