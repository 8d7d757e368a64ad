import { Migration } from '@mikro-orm/migrations';

/** Up to where the books are proven, so that each audit reads only what was written since (docs/decisions/0211-the-audit-is-sealed.md). */
export class Migration20261226000000 extends Migration {
  override up(): void {
    this.addSql(`
      create table audit_times (
        id bigint generated always as identity primary key,
        since timestamptz(6) not null,
        until timestamptz(6) not null
      )`);
    this.addSql(`
      create table audit_seals (
        account_id uuid primary key,
        seq bigint not null,
        total numeric(24,12) not null
      )`);
    this.addSql(`
      create table audit_rounds (
        only_row boolean primary key default true check (only_row),
        began_at timestamptz(6) not null,
        position jsonb
      )`);
  }
}
