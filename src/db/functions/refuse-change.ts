import type { SqlFunction } from './sql-function.js';

/** Trigger function: rows of the ledger can't be changed or removed. */
export const refuseChange: SqlFunction = {
  name: 'refuse_change',
  sql: `
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is immutable: % refused', tg_table_name, tg_op using errcode = 'restrict_violation';
end $$`,
};
