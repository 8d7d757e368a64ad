import { Migration } from '@mikro-orm/migrations';

/** Deliveries and mail are shared out by account (docs/decisions/0065-deliveries-are-shared-by-account.md). */
export class Migration20261124000000 extends Migration {
  override up(): void {
    this.addSql(lanes);
    this.addSql(mails);
    this.addSql(lowBalance);
  }
}

/**
 * What waits is found by account and receiver, so that nobody reads the backlog of one account to find what another has.
 * All mail goes to one server and is one lane.
 */
const lanes = `
alter table alert_events add column lane bigint not null generated always as (
  case kind when 'email' then 0
    else hashtextextended(coalesce(lower(substring(destination from '^[^/]*//[^/?#]*')), destination), 0) end) stored;
drop index alert_events_pending;
create index alert_events_waiting on alert_events (kind, account_id, lane, next_attempt_at)
  where delivery_status = 'pending'`;

/**
 * Addresses stand here as HMACs. \`alert_mails\` is what daily limits count; \`series\` tells the repetitions of one event
 * apart.
 */
const mails = `
create table mail_recipients (
  account_id uuid not null references accounts (id),
  recipient_hash text not null,
  confirmed_at timestamptz(6),
  stopped_at timestamptz(6),
  primary key (account_id, recipient_hash)
);
create index mail_recipients_confirmed on mail_recipients (recipient_hash) where confirmed_at is not null;
create table alert_mails (
  event_id uuid not null,
  series integer not null,
  account_id uuid not null,
  recipient_hash text not null,
  standing text not null check (standing in ('own', 'confirmed', 'stranger')),
  admitted_at timestamptz(6) not null default now(),
  primary key (event_id, series)
);
create index alert_mails_account on alert_mails (account_id, admitted_at);
create index alert_mails_recipient on alert_mails (recipient_hash, standing, admitted_at)`;

/** Who was told of a low balance is told again only after a credit, whatever they set meanwhile. */
const lowBalance = `
alter table accounts add column low_balance_told boolean not null default false;
update accounts set low_balance_told = true where low_balance_threshold_usd is not null and not low_balance_armed`;
