import { Migration } from '@mikro-orm/migrations';

/** Guards of API keys, and the alerts that say that one acted: also to accounts without a subscription. */
export class Migration20261209000000 extends Migration {
  override up(): void {
    this.addSql(keyGuards);
    this.addSql(alertEvents);
  }
}

const keyGuards = `
create table key_guards (
  key_id uuid not null,
  at_pct smallint not null check (at_pct between 1 and 100),
  action text not null check (action in ('disable', 'slow', 'fallback_model')),
  model_public_name text,
  acted_month text,
  acted_at timestamptz(6),
  undone boolean not null default false,
  primary key (key_id),
  constraint key_guards_key_id_fkey foreign key (key_id) references api_keys on delete cascade,
  constraint key_guards_model_check check ((action = 'fallback_model') = (model_public_name is not null)),
  constraint key_guards_acted_check check ((acted_month is null) = (acted_at is null))
)`;

const alertEvents = `
alter table alert_events
  add column guard_action text,
  add column guard_model_public_name text,
  drop constraint alert_events_purpose_check,
  drop constraint alert_events_check1,
  add constraint alert_events_purpose_check
    check (purpose in ('threshold', 'test', 'low_balance', 'guard')) not valid,
  add constraint alert_events_check1
    check (purpose = 'guard' or (purpose = 'low_balance') = (subscription_id is null)) not valid,
  add constraint alert_events_guard_check check (purpose <> 'guard' or guard_action is not null) not valid`;
