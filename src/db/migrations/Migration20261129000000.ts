import { Migration } from '@mikro-orm/migrations';

/** Forgotten passwords are set anew by a link in a mail (docs/decisions/0121-forgotten-passwords.md). */
export class Migration20261129000000 extends Migration {
  override up(): void {
    this.addSql(passwordResets);
  }
}

const passwordResets = `
create table password_resets (
  token_hash text primary key,
  account_id uuid not null constraint password_resets_account_id_fkey references accounts (id),
  expires_at timestamptz(6) not null
);
create index password_resets_account_id on password_resets (account_id);
create index password_resets_expires_at on password_resets (expires_at)`;
