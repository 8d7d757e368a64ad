import { Migration } from '@mikro-orm/migrations';

/** The prompt library, and which version of a prompt a call carried (docs/decisions/0123-prompt-versions-of-calls.md). */
export class Migration20261128000000 extends Migration {
  override up(): void {
    this.addSql(prompts);
    this.addSql(versions);
    this.addSql(immutable);
    this.addSql(activations);
    this.addSql(`alter table usage_events add column prompt_version_id uuid`);
    this.addSql(versionIndex);
  }
}

/**
 * The active version is named by its number: it then can't be another prompt's, and neither table points at the other in
 * a circle. A version never goes without its prompt, so that the number always leads to one.
 */
const prompts = `
create table prompts (
  id uuid primary key,
  account_id uuid not null references accounts (id),
  slug text not null,
  name text not null,
  description text,
  active_version integer not null,
  last_version integer not null,
  characters integer not null,
  revision integer not null default 1,
  created_at timestamptz(6) not null,
  updated_at timestamptz(6) not null,
  check (active_version between 1 and last_version),
  constraint prompts_account_slug_key unique (account_id, slug)
);
create index prompts_account on prompts (account_id, created_at desc, id desc)`;

const versions = `
create table prompt_versions (
  id uuid primary key,
  prompt_id uuid not null references prompts (id) on delete cascade,
  version integer not null check (version >= 1),
  content text not null,
  variables jsonb not null,
  config jsonb,
  notes text,
  created_at timestamptz(6) not null,
  constraint prompt_versions_prompt_version_key unique (prompt_id, version)
)`;

/**
 * A version that is there never changes, and goes with its prompt alone: the cascade deletes it from within a trigger, which
 * nobody else does.
 */
const immutable = `
create trigger prompt_versions_immutable before update on prompt_versions
  for each row execute function refuse_change();
create trigger prompt_versions_kept before delete on prompt_versions
  for each row when (pg_trigger_depth() = 0) execute function refuse_change();
create trigger prompt_versions_no_truncate before truncate on prompt_versions
  for each statement execute function refuse_change()`;

const activations = `
create table prompt_activations (
  prompt_id uuid not null references prompts (id) on delete cascade,
  revision integer not null,
  from_version integer not null,
  to_version integer not null,
  by_account_id uuid not null,
  at timestamptz(6) not null,
  primary key (prompt_id, revision)
)`;

/** Where events stand already, its parts are built behind the migration (src/db/partition-indexes.ts). */
const versionIndex = `
do $$
declare
  columns text := '(account_id, prompt_version_id, created_at desc) where prompt_version_id is not null';
begin
  if exists (select from usage_events) then
    execute 'create index usage_events_prompt_version on only usage_events ' || columns;
  else
    execute 'create index usage_events_prompt_version on usage_events ' || columns;
  end if;
end $$`;
