import type { SqlFunction } from './sql-function.js';

/**
 * Of a trigger: a version of a prompt never changes, and goes only when its prompt has gone. By then the prompt is no longer
 * there: the cascade comes behind its deletion.
 */
export const keepPromptVersions: SqlFunction = {
  name: 'keep_prompt_versions',
  sql: `
create or replace function keep_prompt_versions() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and not exists (select from prompts where id = old.prompt_id) then
    return old;
  end if;
  raise exception '% is immutable: % refused', tg_table_name, tg_op using errcode = 'restrict_violation';
end $$`,
};
