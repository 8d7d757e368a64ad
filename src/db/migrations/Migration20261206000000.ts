import { Migration } from '@mikro-orm/migrations';

/** Chat widgets, what they used on each day, and what sites asked of them. */
export class Migration20261206000000 extends Migration {
  override up(): void {
    this.addSql(widgets);
    this.addSql('create index widgets_account on widgets (account_id, created_at desc, id desc)');
    this.addSql('create index widgets_prompt on widgets (prompt_id) where prompt_id is not null');
    this.addSql(widgetDays);
    this.addSql(widgetSiteDays);
  }
}

const widgets = `
create table widgets (
  id uuid primary key,
  account_id uuid not null references accounts (id),
  public_key text not null constraint widgets_public_key_key unique,
  name text not null,
  model_public_name text not null,
  system_prompt text not null default '',
  prompt_id uuid references prompts (id) on delete set null,
  greeting_message text not null,
  placeholder text not null,
  primary_color text not null,
  position text not null check (position in ('bottom-right', 'bottom-left')),
  allowed_domains text[] not null,
  rate_limit_per_minute integer not null check (rate_limit_per_minute > 0),
  daily_message_limit integer not null check (daily_message_limit >= 0),
  visitor_daily_limit integer check (visitor_daily_limit > 0),
  verified_history boolean not null,
  monthly_limit_usd numeric(24,12) check (monthly_limit_usd >= 0),
  fallback_model_public_name text,
  status text not null default 'active' check (status in ('active', 'deleted')),
  created_at timestamptz(6) not null,
  updated_at timestamptz(6) not null
)`;

/** Written with the usage events, in their transaction. It outlives its widget as usage does. */
const widgetDays = `
create table widget_days (
  widget_id uuid not null,
  day date not null,
  messages integer not null,
  errors integer not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cost numeric(24,12) not null,
  primary key (widget_id, day)
)`;

/** Counted in memory and written once a second: no money. */
const widgetSiteDays = `
create table widget_site_days (
  account_id uuid not null,
  widget_id uuid not null,
  day date not null,
  site text not null,
  outcome text not null,
  messages bigint not null,
  primary key (widget_id, day, site, outcome)
)`;
